// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/caching_allocator.h"
#include "model/replay/event_pools.h"
#include "model/replay/replay_requests.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// The rounded size of a block that a trace does not tell.
struct OpenSize {
    BlockId block; ///< an older one
    std::int64_t bytes = 0; ///< at least
    std::int64_t mostBytes = 0;
};

/// What the allocator held before a trace began: segments that are older than it, and in them the blocks that
/// it frees or leaves without having allocated them. Merging is eager, so these are the whole state, but for
///
/// - the size of an older block of the large pool, which may have kept a tail of up to 1 MiB that was not
///   worth a split. A later block begins where its live predecessor ends, which tells it; so does the end
///   state of a block that stays;
/// - the order in which segments were made (from 2.12 on): guessed by address, below 0, to be learned;
/// - where the address range of an expandable segment begins and ends.
///
/// Empty for a trace from the start of the process. A value.
class StartState {
public:
    /// `rangeBytes`: of the address range of an expandable segment. O(events) where there is such a state.
    StartState(const ReplayRequests& requests, const AllocatorSettings& settings, std::int64_t rangeBytes);

    [[nodiscard]] bool empty() const { return m_segments.empty(); }
    /// Of the older blocks whose size the recording does not tell.
    [[nodiscard]] std::vector<OpenSize> openSizes() const;
    /// How many orders there are to learn, numbered by address: of segments, or (2.12) of blocks.
    [[nodiscard]] std::size_t origins() const { return m_origins; }

    /// An older block whose size is not told has at least so much. False where that is known already.
    [[nodiscard]] bool raise(std::size_t row, std::int64_t bytes);

    /// Puts it into an allocator that holds nothing. `rank` gives each origin its place in the order.
    /// Blocks of older memory are tagged with their BlockId and stand in `blocks` by its row.
    void putInto(CachingAllocator& allocator, const std::vector<std::int32_t>& rank,
        std::vector<ReplayBlock*>& blocks) const;

private:
    struct Live {
        std::uint64_t address = 0;
        std::int64_t bytes = 0; ///< rounded, with an unsplit tail
        std::int64_t mostBytes = 0; ///< what it may be, where that is not certain
        std::int64_t room = 0; ///< up to the next one, or to the end of the segment
        std::int32_t row = 0; ///< of the older blocks; none: below 0
        bool pending = false;
        bool certain = false;
    };
    struct Segment {
        std::uint64_t address = 0;
        std::uint64_t end = 0;
        std::uint64_t stream = 0;
        PoolOwner owner;
        bool small = false;
        bool expandable = false;
        std::size_t firstLive = 0, lastLive = 0; ///< of m_live
    };

    class Layer;

    void findSegments(const ReplayRequests& requests);
    void tellPoolsOfPieces(const ReplayRequests& requests);
    void findBlocks(const DeviceTrace& trace);
    void learnTails(const ReplayRequests& requests);
    void settle(Live& live) const;
    [[nodiscard]] Segment* segmentOf(std::uint64_t address);

    AllocatorSettings m_settings;
    std::int64_t m_rangeBytes;
    std::vector<Segment> m_segments; // by address
    std::vector<Live> m_live; // by address
    std::size_t m_origins = 0;
};

} // namespace strata::model
