// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/gradient_moments.h"

#include "model/whatif/evidence/gradient_calls.h"
#include "model/whatif/evidence/step_gradients.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <iterator>
#include <vector>

namespace strata::model {

namespace {

/// The first event from there on that asks for a block.
EventIndex nextAlloc(const DeviceTrace& trace, EventIndex event)
{
    const auto& actions = trace.events().action;
    while (event < trace.eventCount() && actions[static_cast<std::size_t>(event)] != Action::Alloc)
        ++event;
    return event;
}

/// Refused: what a step in backward would not be the same in.
Result<void> checkSteps(const RecordedRun& run, const RecordedOptimizers& optimizers)
{
    std::vector<EventIndex> ends; // of backwards
    for (const TrainingStep& step : run.steps->steps) {
        if (step.microSteps > 1)
            return fail(Error::Kind::Refused,
                say("steps have several backwards, and an optimizer that steps in each would do another "
                    "training"),
                say("ask of a recording of the program without accumulation"));
        for (const PhaseSpan& span : step.phases)
            if (span.phase == Phase::Backward)
                ends.push_back(span.last + 1);
    }
    for (const RecordedOptimizer& optimizer : optimizers.all)
        for (const RecordedOptimizer::Step& step : optimizer.steps) {
            const auto behind = std::ranges::upper_bound(ends, step.begin);
            if (behind != ends.begin() && nextAlloc(*run.trace, *std::prev(behind)) < step.begin)
                return fail(Error::Kind::Refused,
                    say("something is asked for between backward and a step, as where all gradients are "
                        "clipped or unscaled, which a step in backward would not be behind"),
                    say("record the program without it"));
        }
    return {};
}

/// By block, where AccumulateGrad has gradients in steps that do what the deep one does.
Result<std::map<std::uint32_t, EventIndex>> momentsSeen(
    const RecordedRun& run, const std::vector<StepGradient>& gradients)
{
    const auto step = ownedDeepStep(*run.trace);
    if (!step)
        return Failure(step.error());
    const auto isGradient = [&](std::uint32_t block) {
        const auto found = std::ranges::lower_bound(gradients, block, {}, &StepGradient::block);
        return found != gradients.end() && found->block == block;
    };
    const StepEdits edits{ .changes = gradientsTaken(*run.trace, *step->deep, step->owners, isGradient) };
    const auto moved = orRefused(inAllSteps(*run.trace, *run.steps, stretchOf(*step->deep), edits));
    if (!moved)
        return Failure(moved.error());
    std::map<std::uint32_t, EventIndex> seen;
    for (const RunEdits::Move& move : moved->moves)
        seen.emplace(move.block, move.dies.event);
    if (seen.empty())
        return fail(Error::Kind::Refused,
            say("the deep step does not show where gradients are there, which in_backward=True is about"),
            say("ask without it, or record the program without torch.compile"));
    return seen;
}

} // namespace

Result<GradientMoments> gradientMoments(const RecordedRun& run, const RecordedOptimizers& optimizers)
{
    if (const auto checked = checkSteps(run, optimizers); !checked)
        return Failure(checked.error());
    const auto gradients = gradientsOfSteps(run, optimizers);
    if (!gradients)
        return Failure(gradients.error());
    const auto seen = momentsSeen(run, *gradients);
    if (!seen)
        return Failure(seen.error());
    GradientMoments moments;
    for (const StepGradient& one : *gradients) {
        const auto found = seen->find(one.block);
        const EventIndex birth = run.trace->blocks().birth(BlockId::born(one.block));
        moments.emplace(std::tuple{ one.optimizer, one.step, one.parameter },
            GradientMoment{
                one.block, found == seen->end() ? nextAlloc(*run.trace, birth + 1) : found->second });
    }
    return moments;
}

} // namespace strata::model
