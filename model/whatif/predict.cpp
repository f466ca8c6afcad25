// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/predict.h"

#include "model/base/wrap.h"
#include "model/digest/out_of_memory.h"
#include "model/whatif/lacks.h"
#include "model/whatif/rewrites.h"
#include "model/whatif/run_replay.h"
#include "model/whatif/step_edits.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>

namespace strata::model {

namespace {

/// Of the recording with that number, from 1, of so many.
Failure unknownBatch(std::size_t recording, std::size_t recordings)
{
    const Sentence what = recordings == 1 ? say("how many items the batch has is not known")
                                          : say("how many items the batch of recording %1 has is not known",
                                              asCount(static_cast<std::int64_t>(recording)));
    return fail(Error::Kind::Usage, what, hintFor(Lacks::BatchItems));
}

/// Those runs in which each batch stands once, the one with the batch nearest to `items` first: what it does
/// is likeliest to be what is done with that many.
Result<std::vector<RecordedRun>> byNearness(const std::vector<RecordedRun>& runs, std::int64_t items)
{
    std::vector<RecordedRun> sorted;
    for (const RecordedRun& run : runs) {
        if (!run.batchItems)
            return unknownBatch(sorted.size() + 1, runs.size());
        if (std::ranges::any_of(
                sorted, [&](const RecordedRun& one) { return one.batchItems == run.batchItems; }))
            return fail(Error::Kind::Usage,
                say("two of the recordings have the same batch, %1", asCount(*run.batchItems)),
                say("record the program with another batch"));
        sorted.push_back(run);
    }
    const auto farness = [&](const RecordedRun& run) {
        return std::abs(
            std::log2(static_cast<double>(*run.batchItems)) - std::log2(static_cast<double>(items)));
    };
    std::ranges::stable_sort(sorted, {}, farness);
    return sorted;
}

/// The sizes of the blocks of the first run with another batch.
Result<BatchSizes> sizesOf(const std::vector<RecordedRun>& runs, std::int64_t items)
{
    if (runs.size() == 1) {
        const RecordedRun& run = runs.front();
        return batchByRoles(*run.trace, *run.steps, *run.categories, *run.batchItems, items);
    }
    std::vector<BatchRecording> recordings;
    for (const RecordedRun& run : runs)
        recordings.push_back({ run.trace, run.steps, *run.batchItems });
    return batchByRecordings(recordings, items);
}

ProgramRun withSizes(ProgramRun run, const std::vector<std::int64_t>& sizes)
{
    for (std::size_t row = 0; row < sizes.size(); ++row)
        run.blocks[row].bytes = sizes[row];
    return run;
}

PeakFigures lower(const PeakFigures& a, const PeakFigures& b)
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

void take(Prediction& prediction, const ReplayedRun& came)
{
    prediction.predicted = came.likely;
    prediction.least = came.least;
    prediction.most = came.most;
    prediction.exact = came.exact;
    prediction.reason = came.reason;
    prediction.runsOutOfMemory = came.outOfMemoryEvent.has_value();
    prediction.outOfMemoryEvent = came.outOfMemoryEvent;
}

/// How far an answer may be off that does not know what the program does with that batch, for which libraries
/// may take other algorithms. Shares of the answer, measured in the families of tests/truth/test_whatif.py
/// and rounded up.
constexpr double kOff = 0.015, kReservedOff = 0.08;
/// Where recordings differ in what they ask for, and neither has as large a batch, or as small.
constexpr double kBeyondOff = 0.06;

/// Bounds that leave room for that. What lies outside of both is as likely as half of what lies between them,
/// and reserved moves by whole segments.
void widen(Prediction& prediction, double reservedShare, double off = kOff)
{
    constexpr std::int64_t kSegmentBytes = std::int64_t{ 2 } << 20; // segments are multiples of it
    const auto widenPeak = [&](std::int64_t PeakFigures::*peak, double share, std::int64_t bytes) {
        std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
        const auto ofShare = static_cast<std::int64_t>(static_cast<double>(most) * share);
        const std::int64_t more = std::max({ bytes, ofShare, (most - least) / 2 });
        least = std::max<std::int64_t>(least - more, 0);
        most += more;
    };
    widenPeak(&PeakFigures::requestedBytesPeak, off, 0);
    widenPeak(&PeakFigures::allocatedBytesPeak, off, 0);
    widenPeak(&PeakFigures::reservedBytesPeak, reservedShare, kSegmentBytes);
}

/// Whether bounds lie so near to each other that a point between them is one: by what an answer with a point
/// may be off.
bool isPoint(const Prediction& prediction)
{
    constexpr double kRequestedApart = 0.005, kReservedApart = kReservedOff;
    const auto apart = [&](std::int64_t PeakFigures::*peak) {
        return static_cast<double>(prediction.most.*peak - prediction.least.*peak)
            / static_cast<double>(std::max<std::int64_t>((*prediction.predicted).*peak, 1));
    };
    return apart(&PeakFigures::requestedBytesPeak) <= kRequestedApart
        && apart(&PeakFigures::reservedBytesPeak) <= kReservedApart;
}

/// No recording has a batch of so few, or of so many, items.
bool isBeyond(const std::vector<RecordedRun>& runs, std::int64_t items)
{
    const auto [least, most] = std::ranges::minmax_element(
        runs, {}, [](const RecordedRun& run) { return run.batchItems.value_or(0); });
    return items < least->batchItems || items > most->batchItems;
}

/// What of an answer by recordings is left open, and whether there is a point.
void weighRecordings(Prediction& prediction, const BatchSizes& sizes, bool isBeyond)
{
    if (!isPoint(prediction) || (sizes.differs && isBeyond))
        prediction.predicted.reset();
    widen(prediction, sizes.differs ? kReservedOff : 0, sizes.differs && isBeyond ? kBeyondOff : kOff);
    if (!sizes.flag.empty())
        prediction.reason = prediction.predicted ? sizes.flag
            : sizes.differs && isBeyond
            ? say("bounds alone: %1; one with a batch beyond that which is asked for tells more", sizes.flag)
            : say("bounds alone: %1", sizes.flag);
    else if (prediction.reason.empty())
        prediction.reason
            = say("an estimate: no recording has that batch, for which libraries may take other algorithms");
}

/// The same of one by what blocks are for.
void weighRoles(Prediction& prediction, const BatchSizes& sizes)
{
    const bool told = sizes.evidence == WhatIfEvidence::Roles;
    if (!told || !isPoint(prediction))
        prediction.predicted.reset();
    widen(prediction, kReservedOff);
    if (!told)
        prediction.reason = sizes.flag;
    else if (prediction.predicted)
        prediction.reason = say("an estimate: it goes by what blocks are for; a second recording with "
                                "another batch (--with FILE2) tells each size");
    else
        prediction.reason = say("bounds alone: what blocks are for does not tell how all of them change; a "
                                "second recording with another batch (--with FILE2) tells each size");
}

/// What checkpointing leaves open, as shares of the answer: measured with the families of
/// tests/truth/test_whatif.py that rules are made by. An answer is above the truth more than below it.
constexpr double kDeepBelow = 0.025, kDeepAbove = 0.005, kDeepReservedBelow = 0.022;
/// The same without a deep step.
constexpr double kGuessedBelow = 0.08, kGuessedAbove = 0.2, kGuessedReserved = 0.2;
/// And where modules are called more than once before a backward.
constexpr double kUnclearBelow = 0.4;
/// Of a program without its checkpoints: what a checkpoint takes stays in the answer, though the program
/// alone may not keep it, as where autocast works with a copy.
constexpr double kDeepTakenBelow = 0.08;

/// The same of one that a deep step tells, too.
void weighDeep(Prediction& prediction, const Scenario& scenario, const RunEdits& edits)
{
    RuleSums sums;
    for (const auto* uses :
        std::initializer_list<const std::vector<RuleUse>*>{ &prediction.uses, &edits.uses })
        for (const RuleUse& use : *uses)
            sums.add(use);
    prediction.uses = sums.used();
    prediction.evidence
        = std::max(prediction.evidence, edits.isGuessed ? WhatIfEvidence::Windows : WhatIfEvidence::Deep);
    const auto widenPeak = [&](std::int64_t PeakFigures::*peak, double below, double above) {
        std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
        least -= static_cast<std::int64_t>(static_cast<double>(least) * below);
        most += static_cast<std::int64_t>(static_cast<double>(most) * above);
    };
    const bool takesAway = std::ranges::any_of(scenario.changes, &Change::takesCheckpointsAway);
    const double below = edits.isUnclear ? kUnclearBelow
        : edits.isGuessed                ? kGuessedBelow
        : takesAway                      ? kDeepTakenBelow
                                         : kDeepBelow;
    const double above = edits.isGuessed ? kGuessedAbove : kDeepAbove;
    widenPeak(&PeakFigures::requestedBytesPeak, below, above);
    widenPeak(&PeakFigures::allocatedBytesPeak, below, above);
    widenPeak(&PeakFigures::reservedBytesPeak,
        edits.isUnclear       ? kUnclearBelow
            : edits.isGuessed ? kGuessedReserved
            : takesAway       ? kDeepTakenBelow
                              : kDeepReservedBelow,
        edits.isGuessed ? kGuessedReserved : kDeepAbove);
    prediction.exact = false;
    if (edits.isUnclear) {
        prediction.predicted.reset();
        prediction.reason = say(
            "bounds alone: modules of that path are called more than once before a backward, and no deep "
            "step tells which call keeps what (strata record --deep-step 3)");
    }
    if (edits.keepsTooMuch) {
        prediction.predicted.reset();
        prediction.reason
            = say("bounds alone: checkpointed modules work with copies of what they take, as under "
                  "autocast, and nothing tells whether that would be kept without a checkpoint");
    }
    if (prediction.reason.empty())
        prediction.reason = edits.isGuessed
            ? say(
                "an estimate: who keeps what is guessed by modules and by when blocks go; a recording with a "
                "deep step (strata record --deep-step 3) tells it")
            : say("an estimate: it goes by what the deep step tells of one step");
}

/// Adds what ranks did to an answer.
void weighSpread(Prediction& prediction, const SpreadRun& spread)
{
    prediction.evidence = std::max(prediction.evidence, spread.evidence);
    prediction.uses.insert(prediction.uses.end(), spread.edits.uses.begin(), spread.edits.uses.end());
    // Segments are multiples of their smallest size; what is left of a large block is not split off, which
    // counts where it is not known when things happen.
    constexpr std::int64_t kSegmentBytes = std::int64_t{ 2 } << 20;
    const std::int64_t leftBytes = spread.evidence == WhatIfEvidence::Deep ? 0 : std::int64_t{ 1 } << 20;
    const auto widenPeak = [&](std::int64_t PeakFigures::*peak, std::int64_t bytes) {
        std::int64_t &least = prediction.least.*peak, &most = prediction.most.*peak;
        const auto moreOf = [&](std::int64_t figure) {
            const auto share = static_cast<std::int64_t>(static_cast<double>(figure) * spread.off);
            return std::max(share, bytes);
        };
        least = std::max<std::int64_t>(least - moreOf(least), 0);
        most += moreOf(most);
    };
    widenPeak(&PeakFigures::requestedBytesPeak, 0);
    widenPeak(&PeakFigures::allocatedBytesPeak, leftBytes);
    widenPeak(&PeakFigures::reservedBytesPeak, kSegmentBytes);
    if (prediction.reason.empty())
        prediction.reason = spread.reason;
}

/// Adds what micro-steps did to an answer.
void weighAccumulation(Prediction& prediction)
{
    prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Roles);
    if (prediction.batchAfter == prediction.batchBefore) // else that left room for both
        widen(prediction, kReservedOff);
    if (prediction.reason.empty())
        prediction.reason = say("an estimate: each micro-step is taken to do as the recorded one does");
}

/// Adds what they did to an answer.
void weighRewrites(Prediction& prediction, const Scenario& scenario, const Rewrites& rewrites)
{
    if (changes(scenario, Change::Kind::Checkpoint))
        weighDeep(prediction, scenario, rewrites.checkpoints);
    if (rewrites.spread)
        weighSpread(prediction, *rewrites.spread);
    if (rewrites.accumulation)
        weighAccumulation(prediction);
    prediction.exact = prediction.reason.empty();
    if (!rewrites.optimizer)
        return;
    const OptimizerRewrite& optimizer = *rewrites.optimizer;
    prediction.evidence = std::max(prediction.evidence, WhatIfEvidence::Roles);
    const auto told = [&](BlockRule rule, const OptimizerRewrite::Sum& sum) {
        if (sum.blocks > 0)
            prediction.uses.push_back({ rule, sum.blocks, sum.bytes });
    };
    told(BlockRule::OldOptimizer, optimizer.taken());
    told(BlockRule::NewOptimizer, optimizer.put());
    if (prediction.reason.empty())
        prediction.reason = optimizer.reason();
    prediction.exact = false;
}

/// What a run comes to with those sizes of its blocks, rewritten, and between what that lies.
Result<ReplayedRun> replayBetween(const RecordedRun& run, const Scenario& scenario, const BatchSizes& sizes,
    const Rewrites& rewrites, const Progress& progress)
{
    RunReplay replay(run, scenario, progress);
    const ProgramRun program = programRunOf(*run.trace);
    const auto with = [&](const std::vector<std::int64_t>& bytes, std::size_t way) {
        return replay.of(rewrites.of(withSizes(program, bytes), way));
    };
    auto came = with(sizes.likely, 0);
    if (!came || scenario.firstLook)
        return came;
    const auto include = [&](const Result<ReplayedRun>& other) -> Result<void> {
        if (!other)
            return Failure(other.error());
        came->least = lower(came->least, other->least);
        came->most = higher(came->most, other->most);
        return {};
    };
    if (sizes.least != sizes.likely || sizes.most != sizes.likely)
        for (const auto* bound : { &sizes.least, &sizes.most })
            if (const auto included = include(with(*bound, 0)); !included)
                return Failure(included.error());
    for (std::size_t way = 1; way < rewrites.ways(); ++way)
        if (const auto included = include(with(sizes.likely, way)); !included)
            return Failure(included.error());
    return came;
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

/// Where recordings do not ask for the same, the one with the next batch says what it would be if the program
/// did as it does there; where it can tell.
Result<void> widenByNext(std::vector<RecordedRun> runs, const Scenario& scenario, std::int64_t items,
    Prediction& prediction, const Progress& progress)
{
    std::swap(runs[0], runs[1]);
    const auto sizes = sizesOf(runs, items);
    if (!sizes)
        return Failure(sizes.error());
    const auto rewrites = rewritesOf(runs.front(), scenario);
    if (!rewrites)
        return {};
    const auto came = replayBetween(runs.front(), scenario, *sizes, *rewrites, progress);
    if (!came)
        return Failure(came.error());
    prediction.least = lower(prediction.least, came->least);
    prediction.most = higher(prediction.most, came->most);
    return {};
}

Result<Prediction> predictBatch(const std::vector<RecordedRun>& runs, const Scenario& scenario,
    std::int64_t items, Prediction prediction, const Progress& progress)
{
    auto sorted = byNearness(runs, items);
    if (!sorted)
        return Failure(sorted.error());
    const bool checkpoints = changes(scenario, Change::Kind::Checkpoint);
    if (checkpoints) // who has a deep step tells
        std::ranges::stable_partition(
            *sorted, [](const RecordedRun& run) { return static_cast<bool>(usableDeepStep(*run.trace)); });
    const auto sizes = sizesOf(*sorted, items);
    if (!sizes)
        return Failure(sizes.error());
    const auto rewrites = rewritesOf(sorted->front(), scenario);
    if (!rewrites)
        return Failure(rewrites.error());
    const auto came = replayBetween(sorted->front(), scenario, *sizes, *rewrites, progress);
    if (!came)
        return Failure(came.error());
    take(prediction, *came);
    prediction.run = std::make_shared<ProgramRun>(
        rewrites->of(withSizes(programRunOf(*sorted->front().trace), sizes->likely)));
    prediction.recording = static_cast<std::size_t>(
        std::ranges::find(runs, sorted->front().trace, &RecordedRun::trace) - runs.begin());
    if (prediction.recording != 0)
        prediction.outOfMemoryEvent.reset();
    if (sizes->differs && !scenario.firstLook)
        if (const auto widened = widenByNext(*sorted, scenario, items, prediction, progress); !widened)
            return Failure(widened.error());
    prediction.evidence = sizes->evidence;
    prediction.unknownBytes = sizes->unknownBytes;
    prediction.uses = sizes->uses;
    if (scenario.firstLook)
        return prediction;
    if (sizes->evidence == WhatIfEvidence::Recordings)
        weighRecordings(prediction, *sizes, isBeyond(runs, items));
    else
        weighRoles(prediction, *sizes);
    weighRewrites(prediction, scenario, *rewrites);
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
    if (changes(scenario, Change::Kind::Checkpoint) || rewrites->spread || rewrites->accumulation
        || rewrites->optimizer) {
        const auto came = replayBetween(run, scenario, recordedSizes(*run.trace), *rewrites, progress);
        if (!came)
            return Failure(came.error());
        take(prediction, *came);
        prediction.run = std::make_shared<ProgramRun>(rewrites->of(programRunOf(*run.trace)));
        weighRewrites(prediction, scenario, *rewrites);
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
    take(prediction, *came);
    if (unchanged && !run.report->exact())
        prediction.reason = say("an estimate: %1", run.report->reason());
    return prediction;
}

Result<Prediction> answerOf(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress)
{
    if (changes(scenario, Change::Kind::Autocast))
        return fail(Error::Kind::Refused,
            say("no recording tells which tensors autocast makes smaller, and which copies it keeps"),
            hintFor(Lacks::Confirmation));
    if (changes(scenario, Change::Kind::Type))
        return fail(Error::Kind::Refused, say("no recording tells what a program computes in another type"),
            hintFor(Lacks::Confirmation));
    Prediction prediction;
    prediction.recorded = recordedPeaks(runs.front());
    if (changes(scenario, Change::Kind::Batch)) {
        if (!runs.front().batchItems)
            return unknownBatch(1, runs.size());
        const auto items = batchAfter(scenario.changes, *runs.front().batchItems);
        if (!items)
            return Failure(items.error());
        prediction.batchBefore = runs.front().batchItems;
        prediction.batchAfter = *items;
    }
    if (!prediction.batchAfter)
        return predictItself(runs.front(), scenario, prediction, progress);
    // A recording of what is asked for tells it.
    const auto same = std::ranges::find(runs, prediction.batchAfter, &RecordedRun::batchItems);
    if (same == runs.end())
        return predictBatch(runs, scenario, *prediction.batchAfter, prediction, progress);
    auto itself = predictItself(*same, scenario, prediction, progress);
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

Result<std::int64_t> batchAfter(const std::vector<Change>& changes, std::int64_t items)
{
    std::int64_t numerator = items, denominator = 1;
    constexpr std::int64_t kMost = std::int64_t{ 1 } << 31; // of each factor: a product fits
    for (const Change& change : changes) {
        if (change.kind != Change::Kind::Batch)
            continue;
        if (!change.relative) {
            numerator = change.numerator;
            denominator = 1;
            continue;
        }
        const std::int64_t above = std::gcd(numerator, change.denominator);
        const std::int64_t below = std::gcd(change.numerator, denominator);
        const std::int64_t more = (numerator / above) * (change.numerator / below);
        const std::int64_t parts = (denominator / below) * (change.denominator / above);
        if (more > kMost || parts > kMost)
            return fail(Error::Kind::Usage, say("that batch is beyond all measure"));
        numerator = more;
        denominator = parts;
    }
    if (numerator % denominator != 0)
        return fail(Error::Kind::Usage,
            say("a batch of %1 items cannot be changed so: the items are not whole", asCount(items)));
    return numerator / denominator;
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
