// SPDX-License-Identifier: Apache-2.0
#include "model/wire/allocator_calls_codec.h"

#include "model/wire/coder.h"

namespace strata::wire {

constexpr auto kAllocatorCallsLayout = [](auto& coder, auto& rows) {
    std::uint64_t time = 0;
    coder.rows(rows, 5, [&](auto& row) {
        coder.signedVarint(row.device);
        coder.varint(row.event);
        coder.code(row.kind);
        coder.id(row.value);
        coder.step(row.timeNs, time);
    });
    coder.dropUnknown(rows, &AllocatorCallRow::kind, kAllocatorCallKinds);
};

void encodeAllocatorCalls(std::span<const AllocatorCallRow> rows, Bytes& out)
{
    encodeAs(kAllocatorCallsLayout, out, rows);
}

bool decodeAllocatorCalls(std::span<const std::byte> payload, std::vector<AllocatorCallRow>& rows)
{
    return decodeAs(kAllocatorCallsLayout, payload, rows);
}

} // namespace strata::wire
