// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/groups.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace strata::model {

/// One failed request of the driver, as the recording has it.
struct OutOfMemory {
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
    std::vector<GroupSum> biggest; ///< by line, largest first, three at most; of the last kDetailedOoms alone
};

inline constexpr std::size_t kDetailedOoms = 16; ///< more live sets than these nobody reads

/// Gives the blocks that are active after an event, from whatever index is at hand.
using ActiveBlocks = std::function<std::vector<BlockId>(EventIndex)>;

/// Every out-of-memory of the trace, in order. O(events), plus a live set for each of the last kDetailedOoms.
[[nodiscard]] std::vector<OutOfMemory> outOfMemories(
    const DeviceTrace& trace, const GroupTable& byLine, const ActiveBlocks& activeBlocksAt);

/// The same of a device without its events. `byLine` knows the stacks of its digest.
[[nodiscard]] std::vector<OutOfMemory> outOfMemories(const DeviceDigest& digest, const GroupTable& byLine);

/// Reserved minus the least that `active` can take: the rounded size where the end state has it, else the
/// requested size rounded up to 512 bytes, which every rounding setting of PyTorch's allocator does at least.
[[nodiscard]] std::int64_t freeInSegmentsAtMost(
    const DeviceTrace& trace, std::span<const BlockId> active, std::int64_t reservedBytes);

} // namespace strata::model
