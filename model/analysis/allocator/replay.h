// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/replay/allocator_settings.h"
#include "model/replay/trace_check.h"

#include <cstdint>
#include <optional>
#include <string>

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

} // namespace strata::model
