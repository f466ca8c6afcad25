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

Result<std::vector<LateStart>> lateStartsOf(const std::vector<RecordedRun>& runs, const Progress& progress)
{
    constexpr int kMostRounds = 1; // a second one moved no peak of the programs that were tried
    Scenario asRecorded;
    asRecorded.firstLook = true;
    std::vector<LateStart> best;
    double leastOff = 0;
    for (int rounds = 0; rounds <= kMostRounds; ++rounds) {
        LateStart tried{ .rounds = rounds, .offBytes = {}, .offShare = {} };
        double off = 0;
        for (const RecordedRun& run : runs) {
            ProgramRun program = programRunOf(*run.trace);
            program.before = StartBefore{ .bytes = {}, .rounds = rounds };
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
