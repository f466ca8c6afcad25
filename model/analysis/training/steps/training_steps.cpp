// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/training_steps.h"

#include "model/analysis/training/steps/lives.h"
#include "model/analysis/training/steps/phase_guess.h"
#include "model/analysis/training/steps/step_ends.h"
#include "model/analysis/training/steps/step_list.h"
#include "model/analysis/training/steps/updates.h"
#include "model/analysis/training/steps/work_runs.h"

#include <algorithm>
#include <array>
#include <iterator>

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
    if (work.empty()) {
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
    const bool byLives = work.empty();
    if (byLives) {
        work = workFromLives(trace, ends);
        markUpdates(work, updates);
    }
    found.steps
        = ends.empty() && work.backwards.empty() ? listForwards(trace, work) : listSteps(trace, work, ends);
    if (found.steps.empty())
        return found;
    if (ends.empty())
        found.evidence = work.tellsGradMode ? StepEvidence::Bits : StepEvidence::Frames;
    markWarmup(trace, found.steps);
    addPhases(trace, work, found.evidence == StepEvidence::Ranges, found.steps);
    if (byLives)
        guessPhases(trace, updates, found.steps);
    if (progress.cancelled())
        return cancelled();
    return found;
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
    static constexpr std::array<std::string_view, 6> kWords{ "setup", "train", "eval", "forward", "save",
        "incomplete" };
    return kWords[static_cast<std::size_t>(kind)];
}

} // namespace strata::model
