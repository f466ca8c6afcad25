// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/replay/allocator_settings.h"
#include "model/replay/replay_requests.h"
#include "model/replay/replayed_events.h"
#include "model/replay/start_state.h"
#include "model/replay/trace_check.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// Peaks and counts of a replayed run. Bytes; events are rows of the requests that were replayed.
struct ReplayFigures {
    std::int64_t allocatedBytesPeak = 0; ///< rounded
    EventIndex allocatedPeakEvent = -1; ///< first with that peak; -1: the start
    std::int64_t activeBytesPeak = 0;
    std::int64_t reservedBytesPeak = 0;
    EventIndex reservedPeakEvent = -1;
    std::int64_t strandedBytesPeak = 0; ///< reserved and not active, after a request
    std::int64_t deviceMallocs = 0; ///< calls for segments, and maps
    std::int64_t deviceFrees = 0; ///< and unmaps
    std::optional<EventIndex> firstOomEvent, lastOomEvent;
    std::optional<EventIndex> firstNewOomEvent; ///< of a request that the recording served
    std::int64_t requestsRefused = 0;
    bool byAddress = false; ///< the order of the driver's addresses has decided something of a replay
    bool metCapacity
        = false; ///< the driver of a replay had too little for a segment: more may lead elsewhere
    friend bool operator==(const ReplayFigures&, const ReplayFigures&) = default;
};

/// When frees that wait for other streams end: that is up to the device, and under other settings it may be
/// at other moments.
enum class PendingFrees : std::uint8_t {
    AsRecorded, ///< a wait for all streams may have ended some of them early
    AtOnce,
    Late, ///< each as many requests after it was asked for as the longest of the recording, or half as many
    HalfLate,
};

struct ReplayQuestion {
    AllocatorSettings settings;
    std::optional<std::int64_t> capacityBytes; ///< that segments can take; none: unlimited
    std::int64_t deviceBytes = 0; ///< of the card; 0: not known
    AddressPolicy addresses;
    PendingFrees pendingFrees = PendingFrees::AsRecorded;
    /// empty_cache() just before these events, ascending; none: where the recording has its calls.
    std::optional<std::vector<EventIndex>> emptyCaches;
    std::vector<PoolEnd> poolEnds; ///< TraceCheck::poolEnds
    std::vector<std::int32_t> rank; ///< TraceCheck::rank
    std::optional<EventIndex> until; ///< the last event that takes part; none: all do
    bool endsAtNewOom = false; ///< firstNewOomEvent is the last event that takes part, where there is one
};

/// Requests under other settings, on another card. Blocks are freed where the requests free them, and pending
/// ones (if they are to end as recorded) no later than these complete them. A request that is refused is not
/// made up for: the program goes on. What the trace began with stands as it was recorded; `told` takes what
/// the allocator did from then on. Events of the question are rows of the requests. Fails when cancelled. Any
/// thread; O(events log blocks).
[[nodiscard]] Result<ReplayFigures> replayUnder(const ReplayRequests& requests,
    const ReplayQuestion& question, const Progress& progress = {}, ReplayedEvents* told = nullptr);

/// The same figures of what was recorded, where `rounding` has the size of every block: TraceCheck::rounding.
[[nodiscard]] ReplayFigures recordedFigures(
    const DeviceTrace& trace, const BlockColumn<std::uint32_t>& rounding);

} // namespace strata::model
