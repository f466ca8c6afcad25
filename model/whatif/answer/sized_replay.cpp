// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/sized_replay.h"

#include "model/whatif/ask/lacks.h"

#include <algorithm>
#include <utility>

namespace strata::model {

bool isBatch(Measure measure)
{
    return measure == &RecordedRun::batchItems;
}

Result<BatchSizes> sizesOf(const std::vector<RecordedRun>& runs, Measure measure, std::int64_t asked)
{
    if (runs.size() == 1) {
        const RecordedRun& run = runs.front();
        if (isBatch(measure))
            return batchByRoles(*run.trace, *run.steps, *run.categories, *run.batchItems, asked);
        return fail(Error::Kind::Refused,
            say("one recording does not tell which sizes go with the length of its sequences"),
            hintFor(Lacks::OtherLength));
    }
    std::vector<BatchRecording> recordings;
    for (const RecordedRun& run : runs)
        recordings.push_back({ run.trace, run.steps, *(run.*measure) });
    return batchByRecordings(recordings, asked, isBatch(measure) ? BatchGrowth::Lines : BatchGrowth::Powers);
}

BatchSizes recordedSizes(const DeviceTrace& trace)
{
    BatchSizes sizes;
    for (std::size_t row = 0; row < trace.blocks().bornCount(); ++row)
        sizes.likely.push_back(trace.blocks().requestedBytes[BlockId::born(row)]);
    sizes.least = sizes.most = sizes.likely;
    return sizes;
}

ProgramRun withSizes(
    ProgramRun run, const BatchSizes& sizes, SizeBound bound, const std::optional<StartBefore>& start)
{
    const std::vector<std::int64_t>& bytes = sizes.*bound;
    for (std::size_t row = 0; row < bytes.size(); ++row)
        run.blocks[row].bytes = bytes[row];
    if (start) {
        run.before = start;
        run.before->bytes = sizes.older.*bound;
        run.before->cached = sizes.cached;
    }
    return run;
}

Result<ReplayedRun> replayBetween(const RecordedRun& run, const Scenario& scenario, const BatchSizes& sizes,
    const Rewrites& rewrites, const Progress& progress, const std::optional<StartBefore>& start)
{
    RunReplay replay(run, scenario, progress);
    const ProgramRun program = programRunOf(*run.trace);
    const auto with = [&](SizeBound bound, std::size_t way) {
        return replay.of(rewrites.of(withSizes(program, sizes, bound, start), way));
    };
    auto came = with(&SizesBetween::likely, 0);
    if (!came || scenario.firstLook)
        return came;
    std::vector<std::pair<SizeBound, std::size_t>> others;
    const auto isOpen = [](const SizesBetween& of) { return of.least != of.likely || of.most != of.likely; };
    if (isOpen(sizes) || isOpen(sizes.older))
        others = { { &SizesBetween::least, 0 }, { &SizesBetween::most, 0 } };
    for (std::size_t way = 1; way < rewrites.ways(); ++way)
        others.emplace_back(&SizesBetween::likely, way);
    for (const auto& [bound, way] : others) {
        const auto other = with(bound, way);
        if (!other)
            return other;
        includeBounds(*came, *other);
    }
    return came;
}

PeakFigures lowerFigures(const PeakFigures& a, const PeakFigures& b)
{
    return { std::min(a.requestedBytesPeak, b.requestedBytesPeak),
        std::min(a.allocatedBytesPeak, b.allocatedBytesPeak),
        std::min(a.reservedBytesPeak, b.reservedBytesPeak) };
}

PeakFigures higherFigures(const PeakFigures& a, const PeakFigures& b)
{
    return { std::max(a.requestedBytesPeak, b.requestedBytesPeak),
        std::max(a.allocatedBytesPeak, b.allocatedBytesPeak),
        std::max(a.reservedBytesPeak, b.reservedBytesPeak) };
}

void includeBounds(ReplayedRun& came, const ReplayedRun& other)
{
    came.least = lowerFigures(came.least, other.least);
    came.most = higherFigures(came.most, other.most);
    came.mayRunOutOfMemory |= (other.outOfMemoryEvent || other.mayRunOutOfMemory) && !came.outOfMemoryEvent;
}

void takeReplay(Prediction& prediction, const ReplayedRun& came)
{
    prediction.predicted = came.likely;
    prediction.least = came.least;
    prediction.most = came.most;
    prediction.exact = came.exact;
    prediction.reason = came.reason;
    prediction.runsOutOfMemory = came.outOfMemoryEvent.has_value();
    prediction.mayRunOutOfMemory = came.mayRunOutOfMemory;
    prediction.outOfMemoryEvent = came.outOfMemoryEvent;
    prediction.servesRequest = came.servesRequest;
    prediction.endlessBytes = came.endlessBytes;
}

} // namespace strata::model
