// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/reason.h"
#include "model/base/result.h"
#include "model/replay/trace_check.h"
#include "model/replay/what_if.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

/// What a replay is to take instead of what the recording says.
struct ReplayAsked {
    std::optional<TorchVersion> version;
    std::optional<std::string> settings; ///< as in PYTORCH_CUDA_ALLOC_CONF
    std::optional<std::int64_t> capacityBytes;
};

/// Whether the replayed allocator leads to what a device's trace recorded, and under which conditions.
struct ReplayReport {
    enum class VersionSource : std::uint8_t { Session, Keys, Tried, Option };
    enum class SettingsSource : std::uint8_t { Recorded, Option, Assumed };
    enum class CapacitySource : std::uint8_t { Session, Option, OutOfMemory, None };

    int device = 0;
    std::int64_t events = 0;
    TorchVersion version;
    VersionSource versionSource = VersionSource::Tried;
    std::string settingsText; ///< as in PYTORCH_CUDA_ALLOC_CONF
    AllocatorSettings settings;
    SettingsSource settingsSource = SettingsSource::Assumed;
    std::optional<std::int64_t> capacityBytes;
    CapacitySource capacitySource = CapacitySource::None;
    bool fromStart = false; ///< of the process: nothing is older than the trace
    bool emptyCachesMarked = false; ///< every call of empty_cache() is in the recording
    std::int64_t lostEvents = 0; ///< that the recorder had no room for
    EventIndex firstLostEvent = 0; ///< before this one
    TraceCheck check;

    [[nodiscard]] bool exact() const { return check.exact() && lostEvents == 0; }
    /// It leads to all that was recorded, though sizes of older blocks may be left open: peaks have a range.
    [[nodiscard]] bool agrees() const { return check.agrees() && lostEvents == 0; }
    /// After this event and from there on allocated and active are exact (-1: from the start); none: nowhere
    /// up to the end.
    [[nodiscard]] std::optional<EventIndex> exactFrom() const;
    /// Sizes are exact before the first difference, once none of those that are left open is alive.
    [[nodiscard]] bool exactAt(EventIndex event) const
    {
        return event >= check.determinedFrom
            && (check.agrees() || (check.firstDifference && event < check.firstDifference->event))
            && (lostEvents == 0 || event < firstLostEvent);
    }
    [[nodiscard]] Sentence reason() const; ///< why it is not exact; empty if it is
};

/// The names that `strata replay --json` gives them.
[[nodiscard]] const char* sourceName(ReplayReport::VersionSource source);
[[nodiscard]] const char* sourceName(ReplayReport::SettingsSource source);
[[nodiscard]] const char* sourceName(ReplayReport::CapacitySource source);

/// What a recording says of its allocator, without a replay: under the likeliest version, PyTorch's own
/// settings where those recorded cannot be read. O(events) of a recording that tells its capacity by an
/// out-of-memory.
struct RecordedAllocator {
    AllocatorSettings settings;
    std::optional<std::int64_t> capacityBytes;
};
[[nodiscard]] RecordedAllocator recordedAllocator(const DeviceTrace& trace, const ReplayAsked& asked = {});

/// Replays a device's trace as it was recorded. Where the recording does not tell its version of PyTorch,
/// those that can have written it are tried. Fails with Usage (settings that the version does not take),
/// Refused (events are missing), Cancelled. Any thread; seconds for tens of millions of events.
[[nodiscard]] Result<ReplayReport> checkReplay(
    const DeviceTrace& trace, const ReplayAsked& asked = {}, const Progress& progress = {});

/// What the same requests come to under other settings.
struct WhatIfAsked {
    std::string settings; ///< all of them, as in PYTORCH_CUDA_ALLOC_CONF
    std::optional<std::int64_t> capacityBytes; ///< none: that of the recording, where it is known
    std::optional<AddressPolicy> addresses; ///< none: several where they matter, and the spread between them
    bool ranges = true; ///< false: one value is enough, which is quicker
    /// `replayed` is enough, which is quicker still, and ends with firstNewOomEvent where there is one;
    /// ranges are that one value, `recorded` and `reason` are not looked for.
    bool figuresAlone = false;
    std::optional<std::vector<EventIndex>> emptyCaches; ///< none: those of the recording
    std::optional<std::int64_t> availableBytes; ///< to segments, where that is less than the capacity
    std::optional<EventIndex> until; ///< the last event that takes part; none: all do
    /// WhatIfAnswer::orderThatFits of an answer from the same report; none: it is found where it is needed,
    /// by up to three replays.
    std::optional<AddressPolicy> orderThatFits;
    ReplayedEvents* told = nullptr; ///< takes what the allocator did in the replay that is the answer
};
struct WhatIfAnswer {
    ReplayFigures recorded; ///< "at least" in rounded sizes where the check is not exact
    ReplayFigures replayed; ///< by the policy asked for, or the one that fits the recording, or top-down
    /// Over orders of addresses and moments of frees, where they matter and ranges were asked for; else one
    /// value.
    std::pair<std::int64_t, std::int64_t> reservedPeakRange, allocatedPeakRange;
    /// Where addresses decide and none were asked for: of the orders of real drivers the one under which the
    /// recorded settings come to what was recorded, top-down if none does.
    std::optional<AddressPolicy> orderThatFits;
    bool exact = false;
    Reason reason; ///< why not; empty if it is
};

/// Fails with Usage (settings), Cancelled.
[[nodiscard]] Result<WhatIfAnswer> answerWhatIf(const DeviceTrace& trace, const ReplayReport& report,
    const WhatIfAsked& asked, const Progress& progress = {});

} // namespace strata::model
