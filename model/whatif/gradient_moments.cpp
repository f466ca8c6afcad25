// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/gradient_moments.h"

#include "model/analysis/training/listed_tensors.h"
#include "model/trace/roles.h"
#include "model/whatif/gradient_calls.h"
#include "model/whatif/step_edits.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
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
Result<std::map<std::uint32_t, EventIndex>> momentsSeen(const RecordedRun& run)
{
    std::map<std::uint32_t, EventIndex> seen;
    const auto step = ownedDeepStep(*run.trace);
    if (!step)
        return Failure(step.error());
    std::set<std::uint32_t> gradients;
    const ListedTensors& tensors = run.categories->tensors();
    for (const ListedTensors::Placed& placed : tensors.all())
        if (tensors.listing(placed).kind == wire::RoleKind::Gradient && !placed.block.isOlder())
            gradients.insert(static_cast<std::uint32_t>(placed.block.row()));
    const StepEdits edits{ .changes = gradientsTaken(*run.trace, *step->deep, step->owners,
                               [&](std::uint32_t block) { return gradients.contains(block); }) };
    const auto moved = orRefused(inAllSteps(*run.trace, *run.steps, stretchOf(*step->deep), edits));
    if (!moved)
        return Failure(moved.error());
    for (const RunEdits::Move& move : moved->moves)
        seen.emplace(move.block, move.dies.event);
    if (seen.empty())
        return fail(Error::Kind::Refused,
            say("the deep step does not show where gradients are there, which in_backward=True is about"),
            say("ask without it, or record the program without torch.compile"));
    return seen;
}

} // namespace

Result<GradientMoments> GradientMoments::of(const RecordedRun& run, const RecordedOptimizers& optimizers)
{
    if (const auto checked = checkSteps(run, optimizers); !checked)
        return Failure(checked.error());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::size_t, std::uint32_t>> parameters;
    for (std::size_t i = 0; i < optimizers.all.size(); ++i)
        for (std::uint32_t index = 0; index < optimizers.all[i].names.size(); ++index)
            parameters.emplace(std::pair{ optimizers.all[i].number, optimizers.all[i].names[index].value },
                std::pair{ i, index });
    GradientMoments moments;
    const DeviceTrace& trace = *run.trace;
    const ListedTensors& tensors = run.categories->tensors();
    for (const ListedTensors::Placed& placed : tensors.all()) {
        const RoleListing& listing = tensors.listing(placed);
        const auto parameter = parameters.find(std::pair{ listing.optimizer, listing.name.value });
        if (listing.kind != wire::RoleKind::Gradient || placed.block.isOlder()
            || parameter == parameters.end())
            continue;
        const auto& [optimizer, index] = parameter->second;
        const auto& steps = optimizers.all[optimizer].steps;
        const EventIndex birth = trace.blocks().birth(placed.block);
        const auto step = std::ranges::lower_bound(steps, birth, {}, &RecordedOptimizer::Step::begin);
        if (step == steps.end())
            continue;
        const auto block = static_cast<std::uint32_t>(placed.block.row());
        if (std::next(step) != steps.end() && recordedDeath(trace, block).event >= std::next(step)->end)
            return fail(Error::Kind::Refused,
                say("the program keeps its gradients from step to step, and nothing tells where they would "
                    "be "
                    "made again"),
                say("let zero_grad() set them to none, as it does by itself, and record the program again"));
        moments.m_moments.emplace(
            std::tuple{ optimizer, static_cast<std::size_t>(step - steps.begin()), index },
            Moment{ block, nextAlloc(trace, birth + 1) });
    }
    const auto seen = momentsSeen(run);
    if (!seen)
        return Failure(seen.error());
    for (auto& [place, moment] : moments.m_moments)
        if (const auto found = seen->find(moment.block); found != seen->end())
            moment.ready = found->second;
    return moments;
}

const GradientMoments::Moment* GradientMoments::at(
    std::size_t optimizer, std::size_t step, std::uint32_t parameter) const
{
    const auto found = m_moments.find(std::tuple{ optimizer, step, parameter });
    return found == m_moments.end() ? nullptr : &found->second;
}

} // namespace strata::model
