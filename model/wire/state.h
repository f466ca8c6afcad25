// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/events_codec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::wire {

/// A block of a segment.
struct BlockRow {
    std::uint64_t address = 0;
    std::int64_t bytes = 0; ///< rounded
    std::int64_t requestedBytes = 0;
    BlockState state = BlockState::Inactive;
    std::uint32_t stack = kNone;

    friend bool operator==(const BlockRow&, const BlockRow&) = default;
};

/// A segment, or a mapped piece of an expandable one, with the sums that the allocator keeps for it.
struct SegmentRow {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t allocatedBytes = -1, activeBytes = -1, requestedBytes = -1; ///< -1: not known
    std::uint32_t blocks = 0; ///< rows of State::blocks, in order of segments
    std::uint32_t stack = kNone, stream = kNone, pool = kNone;
    bool expandable = false;

    friend bool operator==(const SegmentRow&, const SegmentRow&) = default;
};

/// The payload of BaseState and EndState: the allocator of one device, between two events.
struct State {
    std::int32_t device = 0;
    std::uint64_t events = 0; ///< how many events of the device come before it
    std::vector<SegmentRow> segments; ///< by address
    std::vector<BlockRow> blocks; ///< by segment, then address

    friend bool operator==(const State&, const State&) = default;
};

void encodeState(const State& state, Bytes& out);
[[nodiscard]] bool decodeState(std::span<const std::byte> payload, State& state);

} // namespace strata::wire
