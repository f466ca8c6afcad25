// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/wire/digest_codec.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace strata::model {

/// One failed request of the driver, as the recording has it.
struct OutOfMemoryFigures {
    EventIndex event = -1;
    std::int64_t requestedBytes = 0; ///< rounded size that the allocator asked for
    std::int64_t deviceFreeBytes = 0; ///< what the driver had left
    std::int64_t reservedBytes = 0; ///< of segments after the event
    /// Reserved and not active after the event. Rounded sizes are known for blocks of the end state alone, so
    /// this is exact only where the end state is that of the event; else it is an upper bound, see
    /// freeInSegmentsAtMost().
    std::int64_t freeInSegmentsBytes = 0;
    bool freeInSegmentsExact = false;
    std::int64_t requestedLiveBytes = 0; ///< requested bytes that were live
    std::int64_t pendingBytes = 0; ///< of them, what waited for another stream

    friend bool operator==(const OutOfMemoryFigures&, const OutOfMemoryFigures&) = default;
};

/// What was made of the bytes that were reserved at the peak of requested.
struct PeakUse {
    std::int64_t reservedBytes = 0;
    std::int64_t requestedBytes = 0;
    std::int64_t activeAtLeastBytes = 0; ///< rounded, of active blocks; see freeInSegmentsAtMost()
    std::int64_t pendingBytes = 0; ///< of requestedBytes, what waited for another stream
    bool exact = false; ///< activeAtLeastBytes is what they took: the end state is that of the peak

    friend bool operator==(const PeakUse&, const PeakUse&) = default;
};

using wire::kDetailedOoms; ///< more live sets than these nobody reads

/// What there is after an event, from whatever index is at hand. Curves are asked of events that never fall.
struct StateAt {
    std::function<std::vector<BlockId>(EventIndex)> activeBlocks;
    std::function<std::int64_t(EventIndex)> requestedBytes, reservedBytes, pendingBytes;
};
/// Without an index: O(blocks) for the active ones, and one walk over the trace for each curve.
[[nodiscard]] StateAt walkingStateAt(const DeviceTrace& trace);

/// `active` are the blocks that were active at the peak. Walks a copy of `stateAt`: the caller's stays where
/// it is.
[[nodiscard]] PeakUse peakUseOf(const DeviceTrace& trace, StateAt stateAt, std::span<const BlockId> active);

/// Takes the blocks that were active after the out-of-memory of that number.
using TakeActive = std::function<void(std::size_t number, std::span<const BlockId> active)>;

/// Every out-of-memory of the trace, in order; `take` is called for each of the last kDetailedOoms, of which
/// each costs a live set.
[[nodiscard]] std::vector<OutOfMemoryFigures> outOfMemoryFigures(
    const DeviceTrace& trace, const StateAt& stateAt, const TakeActive& take);

/// The least that `active` can take: the rounded size where the end state has it, else the requested size
/// rounded up to 512 bytes, which every rounding setting of PyTorch's allocator does at least.
[[nodiscard]] std::int64_t activeAtLeast(const DeviceTrace& trace, std::span<const BlockId> active);
/// Reserved minus that.
[[nodiscard]] std::int64_t freeInSegmentsAtMost(
    const DeviceTrace& trace, std::span<const BlockId> active, std::int64_t reservedBytes);

/// The blocks that are active after `event`, in the order of their rows. One pass over all blocks: cheaper
/// than a LiveIndex for one instant, dearer for many.
[[nodiscard]] std::vector<BlockId> activeBlocks(const DeviceTrace& trace, EventIndex event);

} // namespace strata::model
