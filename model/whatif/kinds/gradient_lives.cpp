// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/kinds/gradient_lives.h"

#include "model/base/wrap.h"
#include "model/whatif/evidence/step_gradients.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

constexpr std::pair<std::string_view, ZeroGradPlace> kPlaces[]
    = { { "after-step", ZeroGradPlace::AfterStep }, { "before-forward", ZeroGradPlace::BeforeForward },
          { "before-backward", ZeroGradPlace::BeforeBackward } };

/// Where spans of a phase begin, in order.
std::vector<EventIndex> beginsOf(const TrainingSteps& steps, Phase phase)
{
    std::vector<EventIndex> begins;
    for (const TrainingStep& step : steps.steps)
        for (const PhaseSpan& span : step.phases)
            if (span.phase == phase)
                begins.push_back(span.first);
    return begins;
}

/// Whether something is asked for between two events, so that it matters where a block goes.
bool asksBetween(const DeviceTrace& trace, EventIndex one, EventIndex other)
{
    const auto& actions = trace.events().action;
    const auto last = std::min(static_cast<std::size_t>(std::max(one, other)), actions.size());
    for (auto event = static_cast<std::size_t>(std::min(one, other)); event < last; ++event)
        if (actions[event] == Action::Alloc)
            return true;
    return false;
}

} // namespace

std::optional<ZeroGradPlace> zeroGradPlace(std::string_view word)
{
    for (const auto& [name, place] : kPlaces)
        if (name == word)
            return place;
    return std::nullopt;
}

Result<RunEdits> gradientEdits(const RecordedRun& run, ZeroGradPlace place)
{
    const auto optimizers = recordedOptimizers(run);
    if (!optimizers)
        return Failure(optimizers.error());
    const auto gradients = gradientsOfSteps(run, *optimizers);
    if (!gradients)
        return Failure(gradients.error());
    const std::vector<EventIndex> begins
        = beginsOf(*run.steps, place == ZeroGradPlace::BeforeBackward ? Phase::Backward : Phase::Forward);
    RunEdits edits;
    RuleUse use{ BlockRule::Zeroed, 0, 0 };
    for (const StepGradient& gradient : *gradients) {
        const EventIndex end = optimizers->all[gradient.optimizer].steps[gradient.step].end;
        RunEdits::Place dies{ end, RunEdits::Place::kLast, gradient.parameter };
        if (place != ZeroGradPlace::AfterStep) {
            const auto next = std::ranges::lower_bound(begins, end);
            dies.event = next == begins.end() ? RunEdits::Added::kNever : *next;
        }
        if (!asksBetween(*run.trace, dies.event, recordedDeath(*run.trace, gradient.block).event))
            continue;
        edits.moves.push_back({ gradient.block, dies });
        ++use.blocks;
        use.bytes = wrapAdd(use.bytes, run.trace->blocks().requestedBytes[BlockId::born(gradient.block)]);
    }
    if (use.blocks > 0)
        edits.uses.push_back(use);
    return edits;
}

} // namespace strata::model
