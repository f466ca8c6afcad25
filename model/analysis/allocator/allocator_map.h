// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace strata::model {

/// A stretch of a segment: a block, or what is free between blocks. Bytes are rounded ones.
struct MapBlock {
    std::uint64_t address = 0;
    std::int64_t bytes = 0; ///< at least, where the map is not exact
    std::int64_t requestedBytes = 0; ///< 0 where it is free
    std::int64_t roundingBytes = 0; ///< what rounding added to the request
    std::int64_t unsplitBytes = 0; ///< what was left of a larger free block, and not worth a split
    BlockId block; ///< none: free
    bool pending = false; ///< its free waits for another stream
    bool determined = true; ///< `bytes` is what the allocator gave it, or what is free

    [[nodiscard]] bool isFree() const { return !block.valid(); }
    [[nodiscard]] std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
};

/// "active_allocated", "active_pending_free", "inactive": as PyTorch writes it.
[[nodiscard]] std::string_view stateName(const MapBlock& block);

/// A segment, or a mapped stretch of an expandable one, with its sums.
struct MapSegment {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t allocatedBytes = 0, activeBytes = 0, requestedBytes = 0;
    StreamIndex stream = kNoIndex;
    PoolIndex pool = kNoIndex;
    bool expandable = false;
    std::uint32_t firstBlock = 0, blockCount = 0; ///< of AllocatorMap::blocks

    [[nodiscard]] std::int64_t freeBytes() const { return bytes - activeBytes; }
    [[nodiscard]] bool isCached() const { return activeBytes == 0; } ///< it is free as a whole
};

/// What the allocator holds after an event, by address.
struct AllocatorMap {
    EventIndex event = -1;
    bool exact = false; ///< every size is known: by the replay, or since the event is the last and nothing
                        ///< contradicts itself
    std::vector<MapSegment> segments;
    std::vector<MapBlock> blocks;

    [[nodiscard]] std::span<const MapBlock> blocksOf(const MapSegment& segment) const
    {
        return std::span(blocks).subspan(segment.firstBlock, segment.blockCount);
    }
};

/// `active`: the blocks that are active after the event, in any order. Without a report, or where it does not
/// reach, sizes are at least what rounding makes of the requests. O(active log active + segments that ever
/// were).
[[nodiscard]] AllocatorMap allocatorMapAt(
    const DeviceTrace& trace, EventIndex event, std::span<const BlockId> active, const ReplayReport* report);

/// The same without an index of what is active: one pass over all blocks.
[[nodiscard]] AllocatorMap allocatorMapAt(
    const DeviceTrace& trace, EventIndex event, const ReplayReport* report);

/// Small, large, or by the size of a segment where its pool is not known.
[[nodiscard]] bool isSmall(const Recording& recording, const MapSegment& segment);

} // namespace strata::model
