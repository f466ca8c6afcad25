// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::model {

/// What one other string of allocator settings comes to, by replaying this very recording.
struct SettingTried {
    std::string settings; ///< all of them, to be copied into PYTORCH_CUDA_ALLOC_CONF
    std::int64_t reservedBytesPeak = 0;
    std::int64_t savedBytes = 0; ///< of the recorded peak of reserved
    std::int64_t deviceMallocs = 0, deviceFrees = 0; ///< calls of the driver
    bool exact = false;
    Sentence reason; ///< why not; empty if it is
    bool refusesMore = false; ///< a request that the recording served
    bool servesRequest = false; ///< with trySettingsUpTo(): the request of that event, and all those before
};

/// Strings worth trying for a program that ran under the settings of the report: those that its version of
/// PyTorch knows, that change something, and that are not known to fail or to do nothing together
/// (expandable_segments with max_split_size_mb: pytorch issues 119452, 123548).
[[nodiscard]] std::vector<std::string> settingsWorthTrying(const ReplayReport& report);
/// The same on top of other settings, which are asked for already; nor the recorded ones. None: what is asked
/// for are no settings that its version knows.
[[nodiscard]] std::vector<std::string> settingsWorthTrying(
    const ReplayReport& report, const std::string& asked);

/// Replays the trace under each of them: the one that reserves least comes first, what refuses a request that
/// the recording served last. Empty where nothing can be replayed: see whySettingsUntried(). Any thread;
/// takes as long as a replay for each. Fails with Cancelled alone.
[[nodiscard]] Result<std::vector<SettingTried>> trySettings(
    const DeviceTrace& trace, const ReplayReport& report, const Progress& progress = {});

/// The same up to the request of event `last`, which was refused, with `capacityBytes` for segments.
[[nodiscard]] Result<std::vector<SettingTried>> trySettingsUpTo(const DeviceTrace& trace,
    const ReplayReport& report, EventIndex last, std::int64_t capacityBytes, const Progress& progress = {});

/// Of all segments, from the start of the trace to event `last`. O(events).
[[nodiscard]] std::int64_t reservedPeakUpTo(const DeviceTrace& trace, EventIndex last);

/// Why trySettings() finds nothing to try: no events, or a replay that left the recording in its first half.
[[nodiscard]] Sentence whySettingsUntried(const DeviceTrace& trace, const ReplayReport& report);

} // namespace strata::model
