// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/training_steps.h"

#include "model/analysis/training/steps/lives.h"
#include "model/analysis/training/steps/phase_guess.h"
#include "model/analysis/training/steps/step_ends.h"
#include "model/analysis/training/steps/step_list.h"
#include "model/analysis/training/steps/step_numbers.h"
#include "model/analysis/training/steps/updates.h"
#include "model/analysis/training/steps/work_runs.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace strata::model {

namespace {

/// The best evidence that there is of where steps end.
StepEvidence findEnds(const DeviceTrace& trace, const Clock& clock, const WorkHistory& work,
    const std::vector<Update>& updates, const Progress& progress, StepEnds& ends)
{
    if (!updates.empty()) {
        ends = endsOfUpdates(trace, work, updates);
        if (!ends.empty())
            return StepEvidence::Ranges;
    }
    if (work.tellsGradMode) {
        ends = endsOfWork(trace, work);
        if (!ends.empty())
            return StepEvidence::Bits;
    }
    ends = endsOfMarks(trace, clock);
    if (!ends.empty())
        return StepEvidence::Marks;
    if (!work.empty() && !work.tellsGradMode) {
        ends = endsOfWork(trace, work);
        if (!ends.empty())
            return StepEvidence::Frames;
    }
    if (work.empty() && !work.showsNoTraining) {
        ends = endsOfRhythm(trace, progress);
        if (!ends.empty())
            return StepEvidence::Rhythm;
    }
    return StepEvidence::None;
}

/// A request that was refused and behind which nothing was asked for ended the program: ranges end then, too,
/// but the step is not done.
void dropRefused(const DeviceTrace& trace, StepEnds& ends)
{
    const auto& refused = trace.outOfMemories();
    if (refused.empty() || ends.empty())
        return;
    const auto last = static_cast<EventIndex>(refused.back());
    const EventIndex before = ends.size() > 1 ? ends[ends.size() - 2] : -1;
    if (before < last && last <= ends.back() && allocsBefore(trace, last) == std::ssize(trace.blocks().alloc))
        ends.pop_back();
}

Failure cancelled()
{
    return fail(Error::Kind::Cancelled, say("stopped"));
}

/// Of steps that the program named, those in which no backward ran train nothing.
void nameWhatIsNoTraining(const DeviceTrace& trace, const WorkHistory& work, std::vector<TrainingStep>& steps)
{
    for (TrainingStep& step : steps) {
        const auto backward = std::ranges::partition_point(
            work.backwards, [&](const BackwardRun& each) { return each.last < step.first; });
        if (step.kind != StepKind::Train
            || (backward != work.backwards.end() && backward->first <= step.last))
            continue;
        std::int64_t on = 0, off = 0;
        bool inModule = false; // allocs of it, and whether one is
        auto run = std::ranges::partition_point(
            work.runs, [&](const WorkRun& each) { return each.last < step.first; });
        for (; run != work.runs.end() && run->first <= step.last; ++run) {
            const std::int64_t allocs = allocsBefore(trace, std::min(run->last, step.last) + 1)
                - allocsBefore(trace, std::max(run->first, step.first));
            on += run->work == RunKind::Forward ? allocs : 0;
            off += run->work == RunKind::NoGrad || run->work == RunKind::Inference ? allocs : 0;
        }
        // Bits say of any request whether gradients are on: a forward it is only where a module runs.
        for (EventIndex event = step.first; event <= step.last && work.tellsGradMode && !inModule; ++event)
            inModule = trace.events().moduleOf(static_cast<std::size_t>(event)) != kNoIndex;
        step.kind = on + off == 0 || (work.tellsGradMode && !inModule) ? StepKind::Loop
            : off > on                                                 ? StepKind::Eval
                                                                       : StepKind::Forward;
        step.microSteps = 0;
    }
}

/// What came at one instant, with the first thing recorded, was there before: a memory timeline lists it so.
/// Whether the first step holds that, and little more: the batch of the next one.
bool nameWhatWasThere(const DeviceTrace& trace, std::vector<TrainingStep>& steps)
{
    constexpr std::size_t kPartsThere = 9, kParts = 10; // of its allocs
    const EventColumns& events = trace.events();
    TrainingStep& step = steps.front();
    if (!events.hasTimes() || step.kind != StepKind::Train || step.last + 1 == trace.eventCount())
        return false;
    std::size_t allocs = 0, there = 0;
    for (auto event = static_cast<std::size_t>(step.first); event <= static_cast<std::size_t>(step.last);
         ++event)
        if (events.action[event] == Action::Alloc) {
            ++allocs;
            there += events.timeNs[event] == events.timeNs[static_cast<std::size_t>(step.first)] ? 1 : 0;
        }
    const bool isFirst = events.timeNs[static_cast<std::size_t>(step.first)]
        < events.timeNs[static_cast<std::size_t>(step.last)];
    if (!isFirst || there < 2 || kParts * there < kPartsThere * allocs)
        return false;
    step.kind = StepKind::Setup;
    return true;
}

/// How sure each step is.
void judge(const WorkHistory& work, bool byLives, TrainingSteps& found)
{
    const auto stepped = [](const TrainingStep& step) {
        return std::ranges::find(step.phases, Phase::Optimizer, &PhaseSpan::phase) != step.phases.end();
    };
    const Certainty shown = byLives ? Certainty::Likely
        : work.tellsGradMode        ? Certainty::Recorded
                                    : Certainty::ShownByStack;
    found.optimizerSeen
        = found.evidence == StepEvidence::Ranges || (!byLives && std::ranges::any_of(found.steps, stepped));
    for (TrainingStep& step : found.steps) {
        const bool isEnd = found.evidence == StepEvidence::Ranges || found.evidence == StepEvidence::Marks;
        switch (step.kind) {
        case StepKind::Train:
            if (found.evidence == StepEvidence::Ranges)
                step.certainty = Certainty::Recorded;
            else if (found.evidence == StepEvidence::Marks)
                step.certainty = shown;
            else
                step.certainty = found.optimizerSeen && !work.backwardIsGuess ? shown : Certainty::Likely;
            break;
        case StepKind::Loop:
            step.certainty = isEnd ? Certainty::Recorded : Certainty::ShownByStack;
            break;
        case StepKind::Eval:
        case StepKind::Forward:
            step.certainty = found.endsAreShown ? shown : Certainty::Likely;
            if (step.kind == StepKind::Eval && !work.tellsGradMode && !work.sawNoGrad)
                step.certainty = Certainty::Likely; // no graph seems to keep what it made
            break;
        case StepKind::Save:
            step.certainty = Certainty::Likely; // by sizes of copies
            break;
        case StepKind::Setup:
        case StepKind::Incomplete:
            step.certainty = isEnd ? Certainty::Recorded : shown;
            break;
        }
    }
}

} // namespace

Result<TrainingSteps> findTrainingSteps(
    const DeviceTrace& trace, const Clock& clock, const Progress& progress)
{
    TrainingSteps found;
    if (trace.eventCount() == 0)
        return found;
    WorkHistory work = workFromBits(trace);
    if (work.empty())
        work = workFromStacks(trace);
    if (progress.cancelled())
        return cancelled();
    std::vector<Update> updates = updatesOf(trace, clock);
    markUpdates(work, updates);
    StepEnds ends;
    found.evidence = findEnds(trace, clock, work, updates, progress, ends);
    dropRefused(trace, ends);
    if (progress.cancelled())
        return cancelled();
    if (ends.empty())
        found.evidence = StepEvidence::None;
    if (ends.empty() && work.empty())
        return found;
    const bool byLives = work.empty() && !work.showsNoTraining;
    if (byLives) {
        work = workFromLives(trace, ends);
        markUpdates(work, updates);
    }
    found.endsAreShown = found.evidence != StepEvidence::Rhythm;
    if (ends.empty() && work.backwards.empty()) {
        ForwardSteps forwards = listForwards(trace, work);
        found.steps = std::move(forwards.steps);
        found.endsAreShown = forwards.areShown;
    } else {
        found.steps = listSteps(trace, work, ends);
    }
    if (found.steps.empty())
        return found;
    if (ends.empty())
        found.evidence = work.tellsGradMode ? StepEvidence::Bits : StepEvidence::Frames;
    if (found.evidence == StepEvidence::Marks && !byLives)
        nameWhatIsNoTraining(trace, work, found.steps);
    const bool wasThere = byLives && nameWhatWasThere(trace, found.steps);
    markWarmup(trace, found.steps);
    addPhases(trace, work, found.evidence == StepEvidence::Ranges, found.steps);
    if (byLives)
        guessPhases(trace, updates, found.steps);
    if (wasThere)
        found.steps.front().phases.clear();
    judge(work, byLives, found);
    numberAsNamed(trace, clock, found);
    if (progress.cancelled())
        return cancelled();
    return found;
}

Certainty TrainingSteps::certainty() const
{
    const bool trains = std::ranges::find(steps, StepKind::Train, &TrainingStep::kind) != steps.end();
    std::optional<Certainty> least;
    for (const TrainingStep& step : steps)
        if (trains ? step.kind == StepKind::Train
                   : step.kind != StepKind::Setup && step.kind != StepKind::Incomplete)
            least = std::max(least.value_or(step.certainty), step.certainty);
    return least.value_or(Certainty::Unknown);
}

const TrainingStep* TrainingSteps::at(EventIndex e) const
{
    const auto step
        = std::ranges::partition_point(steps, [e](const TrainingStep& each) { return each.last < e; });
    return step != steps.end() && step->first <= e ? &*step : nullptr;
}

Phase TrainingSteps::phaseAt(EventIndex e) const
{
    const TrainingStep* const step = at(e);
    if (!step)
        return Phase::Unknown;
    const auto span
        = std::ranges::partition_point(step->phases, [e](const PhaseSpan& each) { return each.last < e; });
    return span != step->phases.end() && span->first <= e ? span->phase : Phase::Unknown;
}

std::string_view phaseWord(Phase phase)
{
    static constexpr std::array<std::string_view, kPhases> kWords{ "unknown", "forward", "backward",
        "recompute", "optimizer", "no_grad" };
    return kWords[static_cast<std::size_t>(phase)];
}

std::string_view evidenceWord(StepEvidence evidence)
{
    static constexpr std::array<std::string_view, 6> kWords{ "ranges", "bits", "marks", "frames", "rhythm",
        "none" };
    return kWords[static_cast<std::size_t>(evidence)];
}

std::string_view stepKindWord(StepKind kind)
{
    static constexpr std::array<std::string_view, kStepKinds> kWords{ "setup", "train", "eval", "forward",
        "save", "incomplete", "loop" };
    return kWords[static_cast<std::size_t>(kind)];
}

} // namespace strata::model
