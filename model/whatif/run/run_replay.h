// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/settings_answer.h"
#include "model/base/progress.h"
#include "model/base/reason.h"
#include "model/base/result.h"
#include "model/base/sentence.h"
#include "model/replay/replayed_events.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/program_run.h"
#include "model/whatif/run/run_requests.h"

#include <functional>
#include <optional>
#include <span>

namespace strata::model {

/// What a run comes to in a replay. Bounds are those of the replay itself: orders of addresses, and moments
/// at which frees end, that it cannot know.
struct ReplayedRun {
    PeakFigures likely, least, most;
    /// The first request that is refused with the capacity, as an event of the recording, be it that it was
    /// refused there too, where the program is the same. The peaks are then those of a device that has more.
    std::optional<EventIndex> outOfMemoryEvent;
    bool mayRunOutOfMemory = false; ///< some run that its bounds are made of does, and it does not
    bool exact = false;
    Reason reason; ///< why it is not; empty if it is
    std::int64_t endlessBytes = 0; ///< reserved peak of the likely run with endless memory
    /// Where nothing but settings changes: SettingsNeed::serves() the last request that was refused, if one
    /// was.
    std::optional<bool> servesRequest;
};

/// What the allocator does in a replay, up to the first request that is refused with the capacity.
struct ToldRun {
    std::optional<RunRequests> run; ///< that was replayed; none: the recording itself
    ReplayedEvents events;
};

/// Replays runs that were made from one recording, under the settings and with the capacity of a scenario.
/// All that it is given must outlive it. Not thread-safe.
class RunReplay {
public:
    RunReplay(const RecordedRun& recorded, const Scenario& scenario, const Progress& progress)
        : m_recorded(recorded)
        , m_scenario(scenario)
        , m_progress(progress)
    {
    }

    /// The recording itself. Fails with Usage (settings), Cancelled; so do the others.
    [[nodiscard]] Result<ReplayedRun> ofItself();
    /// A run that was rewritten; as RunRequests::of() it may be Refused.
    [[nodiscard]] Result<ReplayedRun> of(const ProgramRun& run);
    /// The same of either, event by event; none: the recording itself.
    [[nodiscard]] Result<ToldRun> tell(const ProgramRun* run);

private:
    [[nodiscard]] Result<void> findOrder();
    using Ask = std::function<Result<SettingsAnswer>(const SettingsAsked&)>;
    [[nodiscard]] Result<ReplayedRun> answer(
        const ReplayReport& report, std::int64_t requestedBytesPeak, const Ask& ask);

    const RecordedRun& m_recorded;
    const Scenario& m_scenario;
    const Progress& m_progress;
    std::optional<AddressPolicy>
        m_order; // in which the recorded driver hands out addresses, once it is found
};

/// In which order the driver of a recording hands out addresses, as far as a replay tells. Fails with Usage
/// (the recorded settings), Cancelled. Up to three replays.
[[nodiscard]] Result<AddressPolicy> addressOrderOf(
    const RecordedRun& recorded, const Progress& progress = {});

/// Sets RecordedRun::order where it is missing, for whoever replays a recording more than once. Fails as
/// addressOrderOf().
[[nodiscard]] Result<void> findOrders(std::span<RecordedRun> runs, const Progress& progress = {});

/// recordedNeed() of a recording, with the memory that its last refused request found. Fails with Cancelled
/// alone.
[[nodiscard]] Result<NeededBytes> needAsRecorded(const RecordedRun& recorded, const Progress& progress = {});

/// What was recorded, "at least" in rounded bytes where the check is not exact.
[[nodiscard]] PeakFigures recordedPeaks(const RecordedRun& recorded);

} // namespace strata::model
