// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/settings_answer.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// What one other string of allocator settings would do, by replaying this very recording. Where a request is
/// refused, with these settings or the recorded ones, bytes are those with endless memory.
struct SettingTried {
    std::string settings; ///< all of them, to be copied into PYTORCH_CUDA_ALLOC_CONF
    ComparedNeed need; ///< reserved peaks, with the recorded settings and with these
    std::int64_t deviceMallocs = 0, deviceFrees = 0; ///< calls of the driver
    bool exact = false;
    Sentence reason; ///< why not; empty if it is
    bool refusesMore = false; ///< a request that the recording served
    std::optional<bool> servesRequest; ///< the one that was refused, and all else; none: none was refused
};

/// Strings worth trying for a program that ran under the settings of the report: those that its version of
/// PyTorch knows, that change something, and that are not known to fail or to do nothing together
/// (expandable_segments with max_split_size_mb: pytorch issues 119452, 123548).
[[nodiscard]] std::vector<std::string> settingsWorthTrying(const ReplayReport& report);
/// The same on top of other settings, which are asked for already; nor the recorded ones. None: what is asked
/// for are no settings that its version knows.
[[nodiscard]] std::vector<std::string> settingsWorthTrying(
    const ReplayReport& report, const std::string& asked);

/// Whether replays of other settings show anything; else see whySettingsUntried().
[[nodiscard]] bool canTrySettings(const DeviceTrace& trace, const ReplayReport& report);

/// What is asked about a request that was refused: whether it is served with the memory that there was then.
/// An earlier one than the last: up to that event.
[[nodiscard]] SettingsAsked askedAbout(
    const DeviceTrace& trace, const std::optional<RefusedRequest>& refused);

/// Replays the trace under each of them: what serves `refused` comes first, then what reserves least; what
/// refuses a request that the recording served comes last. Empty where not canTrySettings(). Any thread;
/// takes as long as a replay for each, or two where one was refused. Fails with Cancelled alone.
[[nodiscard]] Result<std::vector<SettingTried>> trySettings(const DeviceTrace& trace,
    const ReplayReport& report, const std::optional<RefusedRequest>& refused, const Progress& progress = {});
/// The same of the last request that was refused, if one was.
[[nodiscard]] Result<std::vector<SettingTried>> trySettings(
    const DeviceTrace& trace, const ReplayReport& report, const Progress& progress = {});

/// "Peaks are with endless memory: the recorded settings would reserve 16.8 GiB.", or those of settings that
/// run out of memory: `one` is of such a setting.
[[nodiscard]] Sentence sayPeaksAreEndless(bool all, const ComparedNeed& one);
/// The same of a table; empty where memory ends for none.
[[nodiscard]] Sentence sayPeaksAreEndless(const std::vector<SettingTried>& tried);

/// Why trySettings() finds nothing to try: no events, or a replay that left the recording in its first half.
[[nodiscard]] Sentence whySettingsUntried(const DeviceTrace& trace, const ReplayReport& report);

} // namespace strata::model
