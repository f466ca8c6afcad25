// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/late_start.h"

#include <algorithm>
#include <cmath>

namespace strata::model {

bool beginsLate(const RecordedRun& run)
{
    const Totals& totals = run.trace->totals();
    return !run.report->fromStart && totals.reservedKnown && run.trace->eventCount() > 0
        && (totals.reservedBytesStart > 0 || run.trace->blocks().olderCount() > 0);
}

void LateStart::add(std::int64_t recorded, std::int64_t replayed)
{
    offBytes.push_back(recorded - replayed);
    offShare.push_back(
        static_cast<double>(offBytes.back()) / static_cast<double>(std::max<std::int64_t>(replayed, 1)));
}

EventIndex optimizerEventOf(const RecordedRun& run)
{
    if (run.steps != nullptr)
        for (const TrainingStep& step : run.steps->steps)
            for (const PhaseSpan& span : step.phases)
                if (span.phase == Phase::Optimizer)
                    return span.first;
    return -1;
}

Result<std::vector<LateStart>> lateStartsOf(const std::vector<RecordedRun>& runs, const Progress& progress)
{
    // Without states a second round moved no peak of the programs that were tried.
    struct Way {
        int rounds, copies;
    };
    constexpr Way kWays[] = { { 0, 1 }, { 1, 1 }, { 1, 2 }, { 1, 3 }, { 2, 2 }, { 2, 3 } };
    Scenario asRecorded;
    asRecorded.firstLook = true;
    std::vector<LateStart> best;
    double leastOff = 0;
    for (const auto& [rounds, copies] : kWays) {
        if (copies > 1 && leastOff == 0)
            break; // what is simpler explains all
        LateStart tried{ .rounds = rounds, .copies = copies, .offBytes = {}, .offShare = {} };
        double off = 0;
        for (const RecordedRun& run : runs) {
            ProgramRun program = programRunOf(*run.trace);
            program.before = StartBefore{ .bytes = {},
                .rounds = rounds,
                .cached = {},
                .copies = copies,
                .optimizerEvent = optimizerEventOf(run) };
            const auto came = RunReplay(run, asRecorded, progress).of(program);
            if (!came)
                return Failure(came.error());
            const std::int64_t replayed = came->likely.reservedBytesPeak;
            tried.add(recordedPeaks(run).reservedBytesPeak, replayed);
            off += std::abs(tried.offShare.back());
        }
        if (best.empty() || off < leastOff)
            best.clear();
        if (best.empty() || off == leastOff) {
            leastOff = off;
            best.push_back(std::move(tried));
        }
    }
    return best;
}

} // namespace strata::model
