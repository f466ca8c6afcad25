// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/late_start.h"

#include "model/whatif/run/run_replay.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::model {

namespace {

EventIndex firstOptimizerEvent(const RecordedRun& run)
{
    if (run.steps != nullptr)
        for (const TrainingStep& step : run.steps->steps)
            for (const PhaseSpan& span : step.phases)
                if (span.phase == Phase::Optimizer)
                    return span.first;
    return -1;
}

} // namespace

bool beginsLate(const RecordedRun& run)
{
    const Totals& totals = run.trace->totals();
    return !run.report->fromStart && totals.reservedKnown && run.trace->eventCount() > 0
        && (totals.reservedBytesStart > 0 || run.trace->blocks().olderCount() > 0);
}

void LateStart::add(std::int64_t recordedBytes, std::int64_t replayedBytes)
{
    offBytes.push_back(recordedBytes - replayedBytes);
    offShare.push_back(
        static_cast<double>(offBytes.back()) / static_cast<double>(std::max<std::int64_t>(replayedBytes, 1)));
}

std::int64_t LateStart::mostOffBytes() const
{
    std::int64_t most = 0;
    for (const std::int64_t bytes : offBytes)
        most = std::max(most, std::abs(bytes));
    return most;
}

double LateStart::mostOffShare() const
{
    double most = 0;
    for (const double share : offShare)
        most = std::max(most, std::abs(share));
    return most;
}

StartBefore startOf(const RecordedRun& run, const StartHistory& history)
{
    return { .history = history,
        .settings = run.report->settings,
        .optimizerEvent = firstOptimizerEvent(run) };
}

Result<std::vector<LateStart>> lateStartsOf(const std::vector<RecordedRun>& runs, const Progress& progress)
{
    // Without states a second round moved no peak of the programs that were tried.
    constexpr StartHistory kHistories[] = { { .rounds = 0 }, { .rounds = 1 },
        { .rounds = 1, .blocksPerParameter = 2 }, { .rounds = 1, .blocksPerParameter = 3 },
        { .rounds = 2, .blocksPerParameter = 2 }, { .rounds = 2, .blocksPerParameter = 3 } };
    Scenario asRecorded;
    asRecorded.firstLook = true;
    std::vector<ProgramRun> programs;
    for (const RecordedRun& run : runs) {
        programs.push_back(programRunOf(*run.trace));
        programs.back().before = startOf(run, {});
    }
    std::vector<LateStart> nearest;
    double leastOff = 0;
    for (const StartHistory& history : kHistories) {
        if (history.blocksPerParameter > 1 && leastOff == 0)
            break; // what is simpler explains all
        LateStart tried{ .history = history };
        double off = 0;
        for (std::size_t i = 0; i < runs.size(); ++i) {
            programs[i].before->history = history;
            const auto came = RunReplay(runs[i], asRecorded, progress).of(programs[i]);
            if (!came)
                return Failure(came.error());
            tried.add(recordedPeaks(runs[i]).reservedBytesPeak, came->likely.reservedBytesPeak);
            off += std::abs(tried.offShare.back());
        }
        if (nearest.empty() || off < leastOff)
            nearest.clear();
        if (nearest.empty() || off == leastOff) {
            leastOff = off;
            nearest.push_back(std::move(tried));
        }
    }
    return nearest;
}

} // namespace strata::model
