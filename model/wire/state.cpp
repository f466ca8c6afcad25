// SPDX-License-Identifier: Apache-2.0
#include "model/wire/state.h"

#include "model/wire/coder.h"

namespace strata::wire {

constexpr auto kStateLayout = [](auto& coder, auto& state) {
    coder.signedVarint(state.device);
    coder.varint(state.events);
    std::uint64_t end = 0; // of the row before: most blocks begin there
    std::size_t block = 0;
    coder.rows(
        state.segments, 10,
        [&](auto& segment) {
            coder.step(segment.address, end);
            coder.signedVarint(
                segment.bytes, segment.allocatedBytes, segment.activeBytes, segment.requestedBytes);
            coder.varint(segment.blocks);
            coder.id(segment.stack, segment.stream, segment.pool);
            coder.lowestBit(segment.expandable);
            for (std::uint32_t i = 0; i < segment.blocks && coder.ok(); ++i) {
                auto& row = coder.next(state.blocks, block);
                coder.step(row.address, end);
                coder.signedVarint(row.bytes, row.requestedBytes);
                coder.knownCode(row.state, kBlockStates);
                coder.id(row.stack);
                end += static_cast<std::uint64_t>(row.bytes);
            }
        },
        kAsManyAsFit);
};

void encodeState(const State& state, Bytes& out)
{
    encodeAs(kStateLayout, out, state);
}

bool decodeState(std::span<const std::byte> payload, State& state)
{
    state.blocks.clear();
    return decodeAs(kStateLayout, payload, state);
}

} // namespace strata::wire
