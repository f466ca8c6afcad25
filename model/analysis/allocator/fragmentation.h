// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/allocator_map.h"
#include "model/base/sentence.h"
#include "model/replay/event_pools.h"
#include "model/timeline/columns.h"
#include "model/timeline/device_timeline.h"

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace strata::model {

/// A live block that keeps the free memory around it from being given back.
struct Pin {
    BlockId block;
    std::int64_t bytes = 0; ///< rounded
    EventIndex ageEvents = 0; ///< since its alloc, or since the trace began
    std::int64_t givesBackBytes = 0; ///< what empty_cache() would return more if this block alone were free
    bool pending = false; ///< freed, and waits for another stream
};

/// A segment that holds both live blocks and free memory.
struct PinnedSegment {
    std::uint32_t segment = 0; ///< of the map
    std::int64_t liveBytes = 0;
    std::int64_t freeBytes = 0;
    std::vector<Pin> pins; ///< the largest first
};

/// What one stream or one pool reserves. Only requests on that stream, or for that pool, can use its free
/// memory.
struct ReservedSum {
    StreamIndex stream = kNoIndex; ///< of a sum by stream
    PoolOwner pool; ///< of a sum by pool
    std::int64_t segments = 0;
    std::int64_t reservedBytes = 0;
    std::int64_t freeBytes = 0;
};

/// Why memory is reserved and not used, at one instant.
///
///     reserved = live + rounding + unsplit + pending + free in segments that live blocks pin + cached
///     segments
struct Fragmentation {
    EventIndex event = -1;
    bool exact = false; ///< as the map
    std::int64_t reservedBytes = 0;
    std::int64_t liveBytes = 0; ///< requested, of blocks in use
    std::int64_t freeBytes = 0; ///< in all segments
    std::int64_t largestFreeBytes = 0; ///< of one stretch
    std::int64_t roundingBytes = 0;
    std::int64_t unsplitBytes = 0;
    std::int64_t pendingBytes = 0;
    std::int64_t cachedSegmentsBytes = 0; ///< of segments that are free as a whole
    std::int64_t cachedPrivateBytes = 0; ///< of these: of private pools that are in use, which keep them
    /// What empty_cache() gives back, as PyTorch's release_cached_blocks() does: segments that are free as a
    /// whole, and free pages of expandable segments. Not of private pools in use. Pending frees may add to
    /// it.
    std::int64_t emptyCacheBytes = 0;
    std::vector<PinnedSegment> pinned; ///< those with the most free memory first
    std::vector<ReservedSum> streams, pools; ///< sums of all segments, the largest first

    /// 1 - largest / all free: 0 where it is one stretch; none where nothing is free. (The index of external
    /// fragmentation of Linux and of the allocator literature.)
    [[nodiscard]] std::optional<double> externalShare() const;
    /// Free in segments that hold live blocks, too.
    [[nodiscard]] std::int64_t pinnedFreeBytes() const { return freeBytes - cachedSegmentsBytes; }
};

/// The first state with the peak of reserved memory: after the request that the last segment was made for.
/// -1: the state before the first event has it.
[[nodiscard]] EventIndex reservedPeakInstant(const DeviceTrace& trace);

[[nodiscard]] Fragmentation fragmentationOf(
    const DeviceTrace& trace, const AllocatorMap& map, const AllocatorSettings& settings);

/// "in segments that are free as a whole: empty_cache() gives them back", or how much of it. `keptBytes` of
/// `cachedBytes` belong to private pools in use.
[[nodiscard]] Sentence cachedSentence(std::int64_t cachedBytes, std::int64_t keptBytes);

/// The same at each of the events, `pinned`, `streams` and `pools` left out. One map an event; returns early,
/// with less, once it is to stop.
[[nodiscard]] std::vector<Fragmentation> fragmentationOver(const DeviceTimeline& timeline,
    const ReplayReport* report, std::span<const EventIndex> events, const std::stop_token& stop = {});

/// So many instants over all of a trace: of each part of the axis the one that stands for it, where most is
/// requested (instantWithin()), so that no peak is left out.
[[nodiscard]] std::vector<EventIndex> evenInstants(const DeviceTimeline& timeline, Axis axis, int count);

} // namespace strata::model
