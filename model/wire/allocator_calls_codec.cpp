// SPDX-License-Identifier: Apache-2.0
#include "model/wire/allocator_calls_codec.h"

#include "model/wire/tables.h"

namespace strata::wire {

void encodeAllocatorCalls(std::span<const AllocatorCallRow> rows, Bytes& out)
{
    ByteWriter writer(out);
    writer.varint(rows.size());
    std::uint64_t time = 0;
    for (const AllocatorCallRow& row : rows) {
        writer.signedVarint(row.device);
        writer.varint(row.event);
        writer.byte(static_cast<std::uint8_t>(row.kind));
        writer.id(row.value);
        writer.signedVarint(static_cast<std::int64_t>(static_cast<std::uint64_t>(row.timeNs) - time));
        time = static_cast<std::uint64_t>(row.timeNs);
    }
}

bool decodeAllocatorCalls(std::span<const std::byte> payload, std::vector<AllocatorCallRow>& rows)
{
    ByteReader in(payload);
    const std::size_t count = in.count(5);
    if (count > kMaxRowsAChunk)
        return false;
    rows.clear();
    rows.reserve(count);
    std::uint64_t time = 0;
    for (std::size_t i = 0; i < count && in.ok(); ++i) {
        const std::int64_t device = in.signedVarint();
        if (device < INT32_MIN || device > INT32_MAX)
            return false;
        AllocatorCallRow row;
        row.device = static_cast<std::int32_t>(device);
        row.event = in.varint();
        const std::uint8_t kind = in.byte();
        row.value = in.id();
        time += static_cast<std::uint64_t>(in.signedVarint());
        row.timeNs = static_cast<std::int64_t>(time);
        row.kind = static_cast<AllocatorCallKind>(kind);
        if (kind < kAllocatorCallKinds)
            rows.push_back(row);
    }
    return in.ok();
}

} // namespace strata::wire
