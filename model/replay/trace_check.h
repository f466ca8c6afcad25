// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/base/sentence.h"
#include "model/replay/allocator_settings.h"
#include "model/replay/start_state.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace strata::model {

/// An event as it is compared: words of PyTorch's files. Of an out-of-memory the bytes are rounded ones and
/// the address is 0.
struct ComparedEvent {
    Action action = Action::Other;
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    std::int64_t stream = 0;
    friend bool operator==(const ComparedEvent&, const ComparedEvent&) = default;
};

/// Where a replay first leaves its recording.
struct ReplayDifference {
    EventIndex event = -1; ///< one behind the last: the recording ends where the replay does not
    std::optional<ComparedEvent> expected; ///< as recorded
    std::optional<ComparedEvent> got; ///< as replayed
    Sentence cause;
};

/// A private pool whose last user is gone: its memory goes with the next release of all that is cached, or
/// alone at once, as that of a torch.cuda.MemPool does.
struct PoolEnd {
    EventIndex event = -1; ///< the release, which shows it
    PoolOwner pool;
    bool alone = false;
};

/// What a replay counts on its way.
struct ReplayTally {
    std::int64_t allocatedBytesPeak = 0, activeBytesPeak = 0;
    EventIndex allocatedPeakEvent = -1, activePeakEvent = -1; ///< first; -1: the start
    std::vector<EventIndex> emptyCaches; ///< calls of empty_cache() that released something, before these
    std::vector<PoolEnd> poolEnds;
    bool hasPendingFrees = false; ///< blocks that waited for other streams
};

/// What one replay of a trace under the settings that it was recorded with led to.
struct TraceCheck : ReplayTally {
    std::int64_t eventsEqual = 0; ///< before the first difference
    std::optional<ReplayDifference> firstDifference;
    std::optional<bool> finalBlocksEqual; ///< none: the recording does not tell its end
    std::vector<OpenSize> open; ///< of older blocks: nothing tells them, the replay takes the least
    EventIndex determinedFrom = -1; ///< after this event and from there on, no block of those is left
    std::int64_t allocatedBytesPeakMost = 0,
                 activeBytesPeakMost = 0; ///< with the most of those; where it agrees
    std::int64_t allocatedEndDifference = 0; ///< replayed less recorded, where both are known
    std::int64_t reservedEndDifference = 0;
    BlockColumn<std::uint32_t>
        rounding; ///< of each block: rounded less requested bytes; else kRoundingUnknown
    bool emptyCachesFromStacks = false; ///< stacks told all of them
    int hypothesesTried = 0; ///< of who released memory
    bool orderLearned = false; ///< of segments that are older than the trace
    std::vector<std::int32_t> rank; ///< of StartState's origins, as learned

    /// All events and final blocks equal.
    [[nodiscard]] bool agrees() const { return !firstDifference && finalBlocksEqual.value_or(false); }
    /// And the rounded size of every block determined.
    [[nodiscard]] bool exact() const { return agrees() && open.empty(); }
};

struct TraceCheckOptions {
    AllocatorSettings settings;
    std::int64_t deviceBytes = 0; ///< of the whole card: ranges are 9/8 of it, fractions a part; 0: not known
};

/// Replays the requests of a trace and compares every segment event, address and final block with what was
/// recorded. Taken from the recording: addresses and refusals of the driver, when frees were completed,
/// pools. Any thread; cancelled: fails. O(events log blocks); tests/bench/bench_replay measures it.
[[nodiscard]] Result<TraceCheck> checkTrace(
    const DeviceTrace& trace, const TraceCheckOptions& options, const Progress& progress = {});

} // namespace strata::model
