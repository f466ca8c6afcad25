// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/predict.h"

#include "model/base/wrap.h"
#include "model/digest/out_of_memory.h"
#include "model/trace/frames.h"
#include "model/whatif/answer/answer_bounds.h"
#include "model/whatif/answer/predicted_bounds.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/kinds/go_together.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/late_start.h"
#include "model/whatif/run/run_replay.h"
#include "model/whatif/run/start_segments.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <span>

namespace strata::model {

namespace {

/// What sizes of blocks go with: items of a batch, or lengths of sequences.
using Measure = std::optional<std::int64_t> RecordedRun::*;

bool isBatch(Measure measure)
{
    return measure == &RecordedRun::batchItems;
}

/// Of the recording with that number, from 1, of so many.
Failure unknownBatch(std::size_t recording, std::size_t recordings)
{
    const Sentence what = recordings == 1 ? say("how many items the batch has is not known")
                                          : say("how many items the batch of recording %1 has is not known",
                                              asCount(static_cast<std::int64_t>(recording)));
    return fail(Error::Kind::Usage, what, hintFor(Lacks::BatchItems));
}

/// Likewise.
Failure unknownLength(std::size_t recording, std::size_t recordings)
{
    const Sentence what = recordings == 1 ? say("how long the recorded sequences are is not known")
                                          : say("how long the sequences of recording %1 are is not known",
                                              asCount(static_cast<std::int64_t>(recording)));
    return fail(Error::Kind::Usage, what, hintFor(Lacks::SequenceLength));
}

/// Those runs in which each batch, or length, stands once, the one nearest to `asked` first: what it does
/// is likeliest to be what is done with that.
Result<std::vector<RecordedRun>> byNearness(
    const std::vector<RecordedRun>& runs, Measure measure, std::int64_t asked)
{
    const Measure other = isBatch(measure) ? &RecordedRun::sequenceLength : &RecordedRun::batchItems;
    std::vector<RecordedRun> sorted;
    for (const RecordedRun& run : runs) {
        if (run.*other && runs.front().*other && run.*other != runs.front().*other)
            return fail(Error::Kind::Usage,
                isBatch(measure) ? say("the recordings differ in the length of their sequences, too")
                                 : say("the recordings differ in their batch, too"),
                say("record the program with nothing else changed"));
        if (!(run.*measure))
            return isBatch(measure) ? unknownBatch(sorted.size() + 1, runs.size())
                                    : unknownLength(sorted.size() + 1, runs.size());
        if (std::ranges::any_of(sorted, [&](const RecordedRun& one) { return one.*measure == run.*measure; }))
            return fail(Error::Kind::Usage,
                isBatch(measure)
                    ? say("two of the recordings have the same batch, %1", asCount(*(run.*measure)))
                    : say("two of the recordings have sequences of the same length, %1",
                        asCount(*(run.*measure))),
                isBatch(measure) ? say("record the program with another batch")
                                 : say("record the program with sequences of another length"));
        sorted.push_back(run);
    }
    const auto farness = [&](const RecordedRun& run) {
        return std::abs(
            std::log2(static_cast<double>(*(run.*measure))) - std::log2(static_cast<double>(asked)));
    };
    std::ranges::stable_sort(sorted, {}, farness);
    return sorted;
}

/// The sizes of the blocks of the first run with another batch, or with sequences of another length.
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

/// `before`: with those bytes in StartBefore, too, where that is asked for.
ProgramRun withSizes(ProgramRun run, const std::vector<std::int64_t>& sizes,
    const std::vector<std::int64_t>& older = {}, const std::vector<std::int64_t>& cached = {},
    const LateStart* before = nullptr, EventIndex optimizerEvent = -1)
{
    for (std::size_t row = 0; row < sizes.size(); ++row)
        run.blocks[row].bytes = sizes[row];
    if (before != nullptr)
        run.before = StartBefore{ older, before->rounds, cached, before->copies, optimizerEvent };
    return run;
}

PeakFigures lowerFigures(const PeakFigures& a, const PeakFigures& b)
{
    return { std::min(a.requestedBytesPeak, b.requestedBytesPeak),
        std::min(a.allocatedBytesPeak, b.allocatedBytesPeak),
        std::min(a.reservedBytesPeak, b.reservedBytesPeak) };
}

PeakFigures higher(const PeakFigures& a, const PeakFigures& b)
{
    return { std::max(a.requestedBytesPeak, b.requestedBytesPeak),
        std::max(a.allocatedBytesPeak, b.allocatedBytesPeak),
        std::max(a.reservedBytesPeak, b.reservedBytesPeak) };
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
}

/// No recording has as few, or as many.
bool isBeyond(const std::vector<RecordedRun>& runs, Measure measure, std::int64_t asked)
{
    const auto [least, most]
        = std::ranges::minmax(runs, {}, [&](const RecordedRun& run) { return (run.*measure).value_or(0); });
    return asked < least.*measure || asked > most.*measure;
}

void include(ReplayedRun& came, const ReplayedRun& other)
{
    came.least = lowerFigures(came.least, other.least);
    came.most = higher(came.most, other.most);
    came.mayRunOutOfMemory |= (other.outOfMemoryEvent || other.mayRunOutOfMemory) && !came.outOfMemoryEvent;
}

const LateStart kModelAlone; ///< nothing but what was requested is there when the recording begins

/// What a run comes to with those sizes of its blocks, rewritten, and between what that lies.
Result<ReplayedRun> replayBetween(const RecordedRun& run, const Scenario& scenario, const BatchSizes& sizes,
    const Rewrites& rewrites, const Progress& progress, const LateStart* before = nullptr)
{
    RunReplay replay(run, scenario, progress);
    const ProgramRun program = programRunOf(*run.trace);
    using Bytes = std::vector<std::int64_t> SizesBetween::*;
    const auto from = [&](Bytes bytes, std::size_t way, const LateStart* start) {
        return replay.of(rewrites.of(
            withSizes(program, sizes.*bytes, sizes.older.*bytes, sizes.cached, start, optimizerEventOf(run)),
            way));
    };
    const auto with = [&](Bytes bytes, std::size_t way) {
        auto came = from(bytes, way, before);
        if (!came || before == nullptr || before->rounds != StartBefore::kSegments)
            return came;
        // Segments are laid out by requests of their own, which the program does not make.
        auto alone = from(bytes, way, &kModelAlone);
        if (!alone)
            return alone;
        const auto keepReserved = [&](PeakFigures ReplayedRun::*figures) {
            ((*alone).*figures).reservedBytesPeak = ((*came).*figures).reservedBytesPeak;
        };
        keepReserved(&ReplayedRun::likely);
        keepReserved(&ReplayedRun::least);
        keepReserved(&ReplayedRun::most);
        return alone;
    };
    auto came = with(&SizesBetween::likely, 0);
    if (!came || scenario.firstLook)
        return came;
    const auto includeIt = [&](const Result<ReplayedRun>& other) -> Result<void> {
        if (!other)
            return Failure(other.error());
        include(*came, *other);
        return {};
    };
    const auto isOpen = [](const SizesBetween& of) { return of.least != of.likely || of.most != of.likely; };
    if (isOpen(sizes) || isOpen(sizes.older))
        for (const Bytes bound : { &SizesBetween::least, &SizesBetween::most })
            if (const auto included = includeIt(with(bound, 0)); !included)
                return Failure(included.error());
    for (std::size_t way = 1; way < rewrites.ways(); ++way)
        if (const auto included = includeIt(with(&SizesBetween::likely, way)); !included)
            return Failure(included.error());
    return came;
}

/// The replays of the recordings themselves are off by some bytes, or by a share: this one may be too. What
/// the nearest recording has is likeliest.
void addOff(const LateStart& before, ReplayedRun& came)
{
    const std::int64_t likely = came.likely.reservedBytesPeak;
    std::vector<std::int64_t> offs = before.offBytes;
    for (const double share : before.offShare)
        offs.push_back(std::llround(static_cast<double>(likely) * share));
    offs.push_back(0);
    const auto [least, most] = std::ranges::minmax(offs);
    const auto add
        = [](std::int64_t& bytes, std::int64_t more) { bytes = std::max<std::int64_t>(bytes + more, 0); };
    add(came.likely.reservedBytesPeak, before.offBytes.front());
    add(came.least.reservedBytesPeak, least);
    add(came.most.reservedBytesPeak, most);
}

/// The same, of recordings that begin late with each start that may be. `starts`: none, they do not.
Result<ReplayedRun> replayWith(const std::vector<LateStart>& starts, const RecordedRun& run,
    const Scenario& scenario, const BatchSizes& sizes, const Rewrites& rewrites, const Progress& progress)
{
    if (starts.empty())
        return replayBetween(run, scenario, sizes, rewrites, progress);
    std::optional<ReplayedRun> all;
    for (const LateStart& start : starts) {
        auto came = replayBetween(run, scenario, sizes, rewrites, progress, &start);
        if (!came)
            return came;
        addOff(start, *came);
        if (all)
            include(*all, *came);
        else
            all = *std::move(came);
        if (scenario.firstLook)
            break;
    }
    return *std::move(all);
}

double mostOff(const LateStart& start)
{
    double most = 0;
    for (const double share : start.offShare)
        most = std::max(most, std::abs(share));
    return most;
}

std::int64_t mostOffBytes(const LateStart& start)
{
    std::int64_t most = 0;
    for (const std::int64_t bytes : start.offBytes)
        most = std::max(most, std::abs(bytes));
    return most;
}

/// The start with the segments of the nearest recording, and how far it is off in predicting each recording.
Result<LateStart> segmentsStart(
    const std::vector<RecordedRun>& sorted, Measure measure, const Progress& progress)
{
    Scenario asRecorded;
    asRecorded.firstLook = true;
    LateStart start{ .rounds = StartBefore::kSegments, .offBytes = {}, .offShare = {} };
    for (const RecordedRun& run : sorted) {
        const auto sizes = sizesOf(sorted, measure, *(run.*measure));
        if (!sizes)
            return Failure(sizes.error());
        const auto came = replayBetween(sorted.front(), asRecorded, *sizes, {}, progress, &start);
        if (!came)
            return Failure(came.error());
        start.add(recordedPeaks(run).reservedBytesPeak, came->likely.reservedBytesPeak);
    }
    return start;
}

/// Recordings with more of what changes begin with no less cached: other work that went with it left that.
bool cachedGoesWith(const std::vector<RecordedRun>& runs, Measure measure)
{
    std::vector<std::pair<std::int64_t, std::int64_t>> cached;
    for (const RecordedRun& run : runs) {
        const std::vector<std::int64_t> bytes = cachedAtStart(*run.trace);
        cached.emplace_back((run.*measure).value_or(0),
            std::accumulate(bytes.begin(), bytes.end(), std::int64_t{ 0 }, wrapAdd));
    }
    std::ranges::sort(cached);
    return std::ranges::is_sorted(cached, {}, &std::pair<std::int64_t, std::int64_t>::second);
}

/// The starts that come near to the recorded peaks. Refused: none does, since other work left more cached.
Result<std::vector<LateStart>> startsOf(
    const std::vector<RecordedRun>& sorted, Measure measure, const Progress& progress)
{
    // Measured in tests/truth/tests/test_whatif_late.py.
    constexpr double kRoundsOff = 0.05, kSegmentsOff = 0.03;
    auto starts = lateStartsOf(sorted, progress);
    if (!starts || mostOff(starts->front()) <= kRoundsOff)
        return starts;
    auto segments = segmentsStart(sorted, measure, progress);
    if (!segments)
        return Failure(segments.error());
    if (mostOff(*segments) <= kSegmentsOff && cachedGoesWith(sorted, measure))
        return std::vector{ *std::move(segments) };
    return fail(Error::Kind::Refused,
        say("the recorded work does not explain %1 of reserved memory from before recording",
            asBytes(mostOffBytes(starts->front()))),
        say("start recording before you build the model"));
}

/// How far the reserved peak may lie outside of the replays, as a share. Measured as startsOf()'s, and
/// rounded up.
double shareToWidenBy(const LateStart& start, std::int64_t reservedBytes)
{
    constexpr double kLeast = 0.015, kPerOff = 1.5, kMost = 0.045, kOfSegments = 0.065;
    constexpr double kMostBytes = 96.0 * (1 << 20); // a few segments, by which large programs are off as well
    if (start.rounds == StartBefore::kSegments)
        return kOfSegments;
    const double share = std::min(kLeast + kPerOff * mostOff(start), kMost);
    return std::max(
        kLeast, std::min(share, kMostBytes / static_cast<double>(std::max<std::int64_t>(reservedBytes, 1))));
}

/// Refused: bounds of recordings that begin late and lie so far apart that they help nobody.
Result<void> narrowEnough(const Prediction& prediction)
{
    constexpr double kWidest = 0.15;
    constexpr std::int64_t kMatters = std::int64_t{ 64 } << 20; // less is a few segments
    for (const auto peak : { &PeakFigures::requestedBytesPeak, &PeakFigures::reservedBytesPeak }) {
        const std::int64_t least = prediction.least.*peak, most = prediction.most.*peak;
        if (most - least > kMatters
            && static_cast<double>(most - least)
                > kWidest * (static_cast<double>(least) + static_cast<double>(most)) / 2)
            return fail(Error::Kind::Refused,
                peak == &PeakFigures::requestedBytesPeak
                    ? say("the recordings begin late and show the requested peak only between %1 and %2",
                        asBytes(least), asBytes(most))
                    : say("the recordings begin late and show the reserved peak only between %1 and %2",
                        asBytes(least), asBytes(most)),
                say("start recording before you build the model"));
    }
    return {};
}

/// The sizes that were recorded.
BatchSizes recordedSizes(const DeviceTrace& trace)
{
    BatchSizes sizes;
    for (std::size_t row = 0; row < trace.blocks().bornCount(); ++row)
        sizes.likely.push_back(trace.blocks().requestedBytes[BlockId::born(row)]);
    sizes.least = sizes.most = sizes.likely;
    return sizes;
}

/// What every recorded length is a multiple of and the asked one is not, where programs pad to as much; 0:
/// nothing.
std::int64_t paddingOf(const std::vector<RecordedRun>& runs, std::int64_t asked)
{
    constexpr std::int64_t kLeast = 8; // tensor cores work with as many
    std::int64_t common = 0;
    for (const RecordedRun& run : runs)
        common = std::gcd(common, run.sequenceLength.value_or(0));
    const std::int64_t power = common & -common;
    return power >= kLeast && asked % power != 0 ? power : 0;
}

/// Where recordings do not ask for the same, the one with the next batch says what it would be if the program
/// did as it does there; where it can tell.
Result<void> widenByNext(std::vector<RecordedRun> runs, const std::vector<LateStart>& starts,
    const Scenario& scenario, Measure measure, std::int64_t asked, Prediction& prediction,
    const Progress& progress)
{
    std::swap(runs[0], runs[1]);
    const auto sizes = sizesOf(runs, measure, asked);
    if (!sizes)
        return Failure(sizes.error());
    const auto rewrites = rewritesOf(runs.front(), scenario);
    if (!rewrites)
        return {};
    const auto came = replayWith(starts, runs.front(), scenario, *sizes, *rewrites, progress);
    if (!came)
        return Failure(came.error());
    prediction.least = lowerFigures(prediction.least, came->least);
    prediction.most = higher(prediction.most, came->most);
    prediction.mayRunOutOfMemory
        |= !prediction.runsOutOfMemory && (came->outOfMemoryEvent || came->mayRunOutOfMemory);
    return {};
}

Result<Prediction> predictSized(const std::vector<RecordedRun>& runs, const Scenario& scenario,
    Measure measure, std::int64_t asked, Prediction prediction, const Progress& progress)
{
    auto sorted = byNearness(runs, measure, asked);
    if (!sorted)
        return Failure(sorted.error());
    if (anyDoes(
            scenario.changes, Does::Checkpoints | Does::TakesCheckpointsAway)) // who has a deep step tells
        std::ranges::stable_partition(
            *sorted, [](const RecordedRun& run) { return static_cast<bool>(usableDeepStep(*run.trace)); });
    const auto sizes = sizesOf(*sorted, measure, asked);
    if (!sizes)
        return Failure(sizes.error());
    const auto rewrites = rewritesOf(sorted->front(), scenario);
    if (!rewrites)
        return Failure(rewrites.error());
    std::vector<LateStart> starts;
    const std::ptrdiff_t late = std::ranges::count_if(*sorted, beginsLate);
    if (late > 0 && late < std::ssize(*sorted))
        return fail(Error::Kind::Refused,
            say("some of the recordings begin late, and some when the program starts"),
            say("record the program from the same step on with each size"));
    if (late > 0) {
        auto found = startsOf(*sorted, measure, progress);
        if (!found)
            return Failure(found.error());
        starts = *std::move(found);
    }
    const bool isLate = !starts.empty();
    const auto came = replayWith(starts, sorted->front(), scenario, *sizes, *rewrites, progress);
    if (!came)
        return Failure(came.error());
    takeReplay(prediction, *came);
    prediction.run = std::make_shared<ProgramRun>(rewrites->of(
        withSizes(programRunOf(*sorted->front().trace), sizes->likely, sizes->older.likely, sizes->cached,
            !isLate                                               ? nullptr
                : starts.front().rounds == StartBefore::kSegments ? &kModelAlone
                                                                  : &starts.front(),
            optimizerEventOf(sorted->front()))));
    prediction.recording = static_cast<std::size_t>(
        std::ranges::find(runs, sorted->front().trace, &RecordedRun::trace) - runs.begin());
    if (prediction.recording != 0)
        prediction.outOfMemoryEvent.reset();
    if (sizes->differs && !scenario.firstLook)
        if (const auto widened = widenByNext(*sorted, starts, scenario, measure, asked, prediction, progress);
            !widened)
            return Failure(widened.error());
    prediction.evidence = sizes->evidence;
    prediction.unknownBytes = sizes->unknownBytes;
    prediction.uses = sizes->uses;
    if (scenario.firstLook)
        return prediction;
    if (sizes->evidence == WhatIfEvidence::Recordings) {
        weighRecordings(prediction, *sizes, isBeyond(runs, measure, asked),
            isLate ? std::optional(shareToWidenBy(starts.front(), prediction.most.reservedBytesPeak))
                   : std::nullopt);
        if (const auto narrow = isLate ? narrowEnough(prediction) : Result<void>(); !narrow)
            return Failure(narrow.error());
    } else
        weighRoles(prediction, scenario, *sizes, isLate);
    rewrites->weigh(prediction);
    if (const std::int64_t padding = isBatch(measure) ? 0 : paddingOf(runs, asked); padding > 0)
        prediction.reason.why = say("%1; a program that pads to a multiple of %2, as all recordings have it, "
                                    "needs more",
            prediction.reason.why, asCount(padding));
    return prediction;
}

/// Whether the scenario leaves the allocator and its device as they were recorded.
bool leavesAllocator(const ReplayReport& report, const Scenario& scenario)
{
    if (scenario.capacityBytes && scenario.capacityBytes != report.capacityBytes)
        return false;
    if (!scenario.settings)
        return true;
    const auto asked = AllocatorSettings::parse(*scenario.settings, report.version);
    const auto recorded = AllocatorSettings::parse(report.settingsText, report.version);
    return asked && recorded && *asked == *recorded;
}

/// The program does as it did in that run, but for its checkpoints and its optimizer.
Result<Prediction> predictItself(
    const RecordedRun& run, const Scenario& scenario, Prediction prediction, const Progress& progress)
{
    const auto rewrites = rewritesOf(run, scenario);
    if (!rewrites)
        return Failure(rewrites.error());
    if (!rewrites->empty()) {
        const auto came = replayBetween(run, scenario, recordedSizes(*run.trace), *rewrites, progress);
        if (!came)
            return Failure(came.error());
        takeReplay(prediction, *came);
        prediction.run = std::make_shared<ProgramRun>(rewrites->of(programRunOf(*run.trace)));
        rewrites->weigh(prediction);
        return prediction;
    }
    const bool unchanged = leavesAllocator(*run.report, scenario);
    if (unchanged && run.report->exact()) { // that check was the replay
        if (const auto& refused = run.trace->outOfMemories(); !refused.empty()) {
            prediction.runsOutOfMemory = true;
            prediction.outOfMemoryEvent = refused[0];
        }
        prediction.predicted = prediction.least = prediction.most = recordedPeaks(run);
        prediction.exact = true;
        return prediction;
    }
    const auto came = RunReplay(run, scenario, progress).ofItself();
    if (!came)
        return Failure(came.error());
    takeReplay(prediction, *came);
    if (unchanged && !run.report->exact())
        prediction.reason = anEstimate(run.report->reason());
    return prediction;
}

/// Refused: what runs alone tell, the program's or its calls'.
Result<void> toldByRecordings(const Recording& recording, const Scenario& scenario)
{
    const ChangeKind* told = nullptr; // that takes most of the calls, else the first
    for (const ChangeKind* kind : changeKinds())
        if (kind->isToldByRunningAlone()
            && std::ranges::find(scenario.changes, kind, &Change::kind) != scenario.changes.end()
            && (told == nullptr || kind->takesModules))
            told = kind;
    if (told == nullptr)
        return {};
    const bool isCpp = isCppProgram(recording);
    if (isCpp && told->takesModules) // of which its calls do not tell
        return fail(Error::Kind::Refused, Sentence(told->notRecorded), hintToWriteByHand());
    const bool isByCalls = isCpp || firstOf(scenario.changes, &ChangeKind::isToldByCallsAlone) != nullptr;
    return fail(Error::Kind::Refused, Sentence(told->notRecorded),
        hintFor(isByCalls ? Lacks::Calls : Lacks::Confirmation));
}

Result<Prediction> answerOf(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress)
{
    if (const auto told = toldByRecordings(runs.front().trace->recording(), scenario); !told)
        return Failure(told.error());
    if (const auto together = goTogether(scenario); !together) // whatever sizes are known
        return Failure(together.error());
    const bool isOfSequences = anyDoes(scenario.changes, Does::Sequence);
    Prediction prediction;
    prediction.recorded = recordedPeaks(runs.front());
    if (isOfSequences) {
        if (!runs.front().sequenceLength)
            return unknownLength(1, runs.size());
        const auto length = sequenceAfter(scenario.changes, *runs.front().sequenceLength);
        if (!length)
            return Failure(length.error());
        prediction.sequenceBefore = runs.front().sequenceLength;
        prediction.sequenceAfter = *length;
    }
    if (anyDoes(scenario.changes, Does::Batch)) {
        if (!runs.front().batchItems)
            return unknownBatch(1, runs.size());
        const auto items = batchAfter(scenario.changes, *runs.front().batchItems);
        if (!items)
            return Failure(items.error());
        prediction.batchBefore = runs.front().batchItems;
        prediction.batchAfter = *items;
    }
    const Measure measure = isOfSequences ? &RecordedRun::sequenceLength : &RecordedRun::batchItems;
    const auto asked = isOfSequences ? prediction.sequenceAfter : prediction.batchAfter;
    const auto weighed = [&](Result<Prediction> answer, std::span<const RecordedRun> by) {
        const auto& capacity = scenario.capacityBytes;
        if (answer)
            weighTold(*answer, by, capacity ? capacity : by.front().report->capacityBytes);
        return answer;
    };
    if (!asked)
        return weighed(predictItself(runs.front(), scenario, prediction, progress), std::span(runs).first(1));
    // A recording of what is asked for tells it.
    const auto same
        = std::ranges::find_if(runs, [&](const RecordedRun& run) { return run.*measure == asked; });
    if (same == runs.end())
        return weighed(predictSized(runs, scenario, measure, *asked, prediction, progress), runs);
    auto itself = weighed(predictItself(*same, scenario, prediction, progress), std::span(&*same, 1));
    if (itself && same != runs.begin()) {
        itself->evidence = std::max(itself->evidence, WhatIfEvidence::Recordings);
        itself->outOfMemoryEvent.reset();
        itself->recording = static_cast<std::size_t>(same - runs.begin());
    }
    return itself;
}

/// What is certain of what a program needs that was refused a request: what it had then, once the allocator
/// had given back what it could, and that. None was refused one.
std::optional<std::int64_t> leastBytesOf(
    const DeviceTrace& trace, const Scenario& scenario, const PeakFigures& least)
{
    if (trace.outOfMemories().empty())
        return trace.totals().requestedPeakEvent < 0 ? std::optional(least.reservedBytesPeak) : std::nullopt;
    std::int64_t bytes = least.requestedBytesPeak;
    StateAt stateAt = walkingStateAt(trace);
    if (scenario.changes.empty())
        for (const std::uint32_t event : trace.outOfMemories())
            bytes = std::max(bytes,
                wrapAdd(scenario.settings // which may leave less between blocks
                        ? wrapSub(stateAt.requestedBytes(event), stateAt.pendingBytes(event))
                        : stateAt.reservedBytes(event),
                    trace.events().bytes[event]));
    return bytes;
}

} // namespace

std::vector<RecordedRun> takingPart(const std::vector<RecordedRun>& runs, const Scenario& scenario)
{
    return scenario.changes.empty() ? std::vector{ runs.front() } : runs;
}

Result<Prediction> predict(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress)
{
    auto prediction = answerOf(runs, scenario, progress);
    if (prediction)
        prediction->atLeastBytes
            = leastBytesOf(*runs[prediction->recording].trace, scenario, prediction->least);
    if (prediction && prediction->atLeastBytes) {
        prediction->endsRefused = !runs[prediction->recording].trace->outOfMemories().empty();
        prediction->atLeastBecause = prediction->endsRefused
            ? say("a request was refused, and what the program asks for once it is served is not known")
            : say("nothing recorded is above what was there when the recording began, and what came before "
                  "that "
                  "is not known");
        if (!scenario.changes.empty()) {
            prediction->predicted.reset();
            prediction->exact = false;
            prediction->reason = say("as far as the recording goes: %1", prediction->atLeastBecause);
        }
    }
    if (prediction && scenario.firstLook) {
        prediction->exact = false;
        prediction->reason = say("a first look: between what it lies is left out");
    }
    return prediction;
}

} // namespace strata::model
