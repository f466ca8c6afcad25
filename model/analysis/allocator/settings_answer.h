// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/needed_bytes.h"
#include "model/analysis/allocator/refused_request.h"
#include "model/analysis/allocator/replay.h"
#include "model/base/reason.h"
#include "model/replay/other_settings.h"
#include "model/replay/replay_requests.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace strata::model {

/// What the same requests come to under other settings.
struct SettingsAsked {
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
    /// SettingsAnswer::orderThatFits of an answer from the same report; none: it is found where it is needed,
    /// by up to three replays.
    std::optional<AddressPolicy> orderThatFits;
    ReplayedEvents* told = nullptr; ///< takes what the allocator did in the replay that is the answer
};
struct SettingsAnswer {
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
[[nodiscard]] Result<SettingsAnswer> answerSettings(const DeviceTrace& trace, const ReplayReport& report,
    const SettingsAsked& asked, const Progress& progress = {});

/// The same of a run that was rewritten from a recording. `report` is on that recording, with the run's rows
/// as events. `asked` names addresses or `orderThatFits`. `recorded` of the answer has but one peak, that of
/// segments as they were recorded for these requests: `recordedReservedPeak()`, called where it is needed.
[[nodiscard]] Result<SettingsAnswer> answerSettings(const ReplayRequests& requests,
    const std::function<std::int64_t()>& recordedReservedPeak, const ReplayReport& report,
    const SettingsAsked& asked, const Progress& progress = {});

/// An answer that goes on where memory ends.
struct SettingsNeed {
    SettingsAnswer answer; ///< with endless memory, where a request is refused with what is asked
    ReplayFigures there; ///< with the memory that is asked
    NeededBytes needed;

    /// Whether the request that was refused is served with the memory that is asked, as is all that the
    /// recording served.
    [[nodiscard]] bool serves(const RefusedRequest& refused) const
    {
        return there.lastOomEvent != refused.event && !there.firstNewOomEvent;
    }
};

/// `ask` with what is asked, and with endless memory where that may lead elsewhere. `newOomsAlone`: requests
/// that the recording did not serve either count as served. Fails as `ask` does.
[[nodiscard]] Result<SettingsNeed> needOf(SettingsAsked asked, bool newOomsAlone,
    const std::function<Result<SettingsAnswer>(const SettingsAsked&)>& ask);

/// The need with the recorded settings, and what is asked else. `bytes` are those recorded, where the replay
/// is exact. Up to two replays; none where memory did not end. Fails with Cancelled alone.
[[nodiscard]] Result<NeededBytes> recordedNeed(const DeviceTrace& trace, const ReplayReport& report,
    const SettingsAsked& asked, const Progress& progress = {});

} // namespace strata::model
