// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/answer/predict.h"

#include "model/base/wrap.h"
#include "model/digest/out_of_memory.h"
#include "model/trace/frames.h"
#include "model/whatif/answer/answer_bounds.h"
#include "model/whatif/answer/late_answer.h"
#include "model/whatif/answer/predicted_bounds.h"
#include "model/whatif/answer/sized_replay.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/ask/lacks.h"
#include "model/whatif/kinds/go_together.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/run_replay.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>

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

/// No recording has as few, or as many.
bool isBeyond(const std::vector<RecordedRun>& runs, Measure measure, std::int64_t asked)
{
    const auto [least, most]
        = std::ranges::minmax(runs, {}, [&](const RecordedRun& run) { return (run.*measure).value_or(0); });
    return asked < least.*measure || asked > most.*measure;
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
    const auto came = replayFrom(starts, runs.front(), scenario, *sizes, *rewrites, progress);
    if (!came)
        return Failure(came.error());
    prediction.least = lowerFigures(prediction.least, came->least);
    prediction.most = higherFigures(prediction.most, came->most);
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
    const auto starts = startsOf(*sorted, measure, progress);
    if (!starts)
        return Failure(starts.error());
    const RecordedRun& nearest = sorted->front();
    const auto came = replayFrom(*starts, nearest, scenario, *sizes, *rewrites, progress);
    if (!came)
        return Failure(came.error());
    takeReplay(prediction, *came);
    prediction.run = std::make_shared<ProgramRun>(rewrites->of(withSizes(
        programRunOf(*nearest.trace), *sizes, &SizesBetween::likely, startOfProgram(*starts, nearest))));
    prediction.recording = static_cast<std::size_t>(
        std::ranges::find(runs, nearest.trace, &RecordedRun::trace) - runs.begin());
    if (prediction.recording != 0)
        prediction.outOfMemoryEvent.reset();
    if (sizes->differs && !scenario.firstLook)
        if (const auto widened
            = widenByNext(*sorted, *starts, scenario, measure, asked, prediction, progress);
            !widened)
            return Failure(widened.error());
    prediction.evidence = sizes->evidence;
    prediction.unknownBytes = sizes->unknownBytes;
    prediction.uses = sizes->uses;
    if (scenario.firstLook)
        return prediction;
    const LateStart* const start = starts->empty() ? nullptr : &starts->front();
    if (sizes->evidence == WhatIfEvidence::Recordings) {
        weighRecordings(prediction, *sizes, isBeyond(runs, measure, asked), start);
        if (const auto narrow = start != nullptr ? narrowEnough(prediction) : Result<void>(); !narrow)
            return Failure(narrow.error());
    } else
        weighRoles(prediction, scenario, *sizes, start != nullptr);
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
        prediction.predicted = prediction.least = prediction.most = recordedPeaks(run);
        prediction.exact = true;
        if (!scenario.firstLook) {
            const auto need = needAsRecorded(run, progress);
            if (!need)
                return Failure(need.error());
            prediction.endlessBytes = need->endlessBytes;
        }
    } else {
        const auto came = RunReplay(run, scenario, progress).ofItself();
        if (!came)
            return Failure(came.error());
        takeReplay(prediction, *came);
        if (unchanged)
            prediction.reason = anEstimate(run.report->reason());
    }
    if (const auto& refused = run.trace->outOfMemories(); unchanged && !refused.empty()) {
        prediction.runsOutOfMemory = true; // whatever a replay that is not exact makes of it
        prediction.outOfMemoryEvent = refused[0];
        prediction.servesRequest = false;
    } else if (!unchanged && !scenario.firstLook && (prediction.runsOutOfMemory || !refused.empty())) {
        const auto need = needAsRecorded(run, progress);
        if (!need)
            return Failure(need.error());
        prediction.recordedNeed = *need;
    }
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
        if (!answer)
            return answer;
        weighTold(*answer, by);
        const auto capacity
            = scenario.capacityBytes ? scenario.capacityBytes : by.front().report->capacityBytes;
        // Bounds are wider than the runs that were replayed for them.
        answer->mayRunOutOfMemory = !answer->runsOutOfMemory
            && (answer->mayRunOutOfMemory || (capacity && answer->most.allocatedBytesPeak > *capacity));
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
