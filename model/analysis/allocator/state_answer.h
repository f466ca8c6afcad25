// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/allocator_map.h"
#include "model/base/answer_fields.h"
#include "model/replay/event_pools.h"

#include <algorithm>
#include <array>
#include <optional>

namespace strata::model {

/// What `strata state` answers of one device. Points to the trace.
struct StateAnswer {
    const DeviceTrace* trace;
    AllocatorMap map;

    /// A sum over the blocks of the segment; none: the size of one of them is not known.
    [[nodiscard]] std::optional<std::int64_t> known(const MapSegment& segment, std::int64_t sum) const
    {
        const bool determined = std::ranges::all_of(map.blocksOf(segment), &MapBlock::determined);
        return determined ? std::optional(sum) : std::nullopt;
    }
};

[[nodiscard]] constexpr auto whereDetermined(std::int64_t MapBlock::*bytes)
{
    return
        [=](const MapBlock& block) { return block.determined ? std::optional(block.*bytes) : std::nullopt; };
}

template <> struct Fields<MapBlock> {
    static constexpr std::tuple all{
        field("address", Unit::None, "where it begins", &MapBlock::address),
        field("size", Unit::Bytes, "rounded size; null: not known", whereDetermined(&MapBlock::bytes)),
        field("requested_size", Unit::Bytes, "as requested; 0 where it is free", &MapBlock::requestedBytes),
        field("state", Unit::None, "`active_allocated`, `active_pending_free` or `inactive`",
            [](const MapBlock& block) { return stateName(block); }),
        field("block", Unit::None, "number of the block; null: free memory",
            [](const MapBlock& block) {
                return block.isFree() ? std::nullopt : std::optional(block.block.value);
            }),
        field("rounding", Unit::Bytes, "added to the request by rounding; null: not known",
            whereDetermined(&MapBlock::roundingBytes)),
        field("unsplit", Unit::Bytes, "tail of a larger free block that was not split off; null: not known",
            whereDetermined(&MapBlock::unsplitBytes)),
    };
};

template <> struct Fields<MapSegment> {
    static constexpr std::tuple all{
        field("address", Unit::None, "where it begins", &MapSegment::address),
        field("total_size", Unit::Bytes, "size of the segment", &MapSegment::bytes),
        field("allocated_size", Unit::Bytes, "of blocks in use; null: not known",
            [](const MapSegment& segment, const StateAnswer& in) {
                return in.known(segment, segment.allocatedBytes);
            }),
        field("active_size", Unit::Bytes,
            "of blocks in use and of those freed that another stream may still use; null: not known",
            [](const MapSegment& segment, const StateAnswer& in) {
                return in.known(segment, segment.activeBytes);
            }),
        field("requested_size", Unit::Bytes, "of the same blocks, as requested", &MapSegment::requestedBytes),
        field("stream", Unit::None, "handle of the stream; null: not known",
            [](const MapSegment& segment, const StateAnswer& in) {
                return segment.stream == kNoIndex
                    ? std::nullopt
                    : std::optional(in.trace->recording().streams[segment.stream]);
            }),
        field("segment_type", Unit::None, "`small` or `large`",
            [](const MapSegment& segment, const StateAnswer& in) {
                return isSmall(in.trace->recording(), segment) ? "small" : "large";
            }),
        field("segment_pool_id", Unit::None, "pool of the segment; `[0,0]`: the default pool",
            [](const MapSegment& segment, const StateAnswer& in) {
                const PoolOwner owner = poolOwnerOf(in.trace->recording(), segment.pool);
                return std::array{ owner.owner, owner.id };
            }),
        field("is_expandable", Unit::None, "whether the segment is expandable", &MapSegment::expandable),
        field("blocks", Unit::None, "blocks and free memory of the segment, by address",
            [](const MapSegment& segment, const StateAnswer& in) { return in.map.blocksOf(segment); }),
    };
};

template <> struct Fields<StateAnswer> {
    static constexpr std::tuple all{
        field("schema", Unit::None, "1", [](const StateAnswer&) { return 1; }),
        field("device", Unit::None, "number of the device",
            [](const StateAnswer& answer) { return answer.trace->device(); }),
        field("event", Unit::Event, "the state is the one after this event",
            within(&StateAnswer::map, &AllocatorMap::event)),
        field("exact", Unit::None, "whether every size is known",
            within(&StateAnswer::map, &AllocatorMap::exact)),
        field("segments", Unit::None, "segments of the allocator, by address",
            within(&StateAnswer::map, &AllocatorMap::segments)),
    };
};

} // namespace strata::model
