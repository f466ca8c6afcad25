// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/gradient_lives.h"

#include "model/analysis/training/listed_tensors.h"
#include "model/base/wrap.h"
#include "model/trace/roles.h"
#include "model/whatif/recorded_optimizers.h"
#include "model/whatif/step_edits.h"

#include <algorithm>
#include <map>
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
    std::map<std::uint32_t, const RecordedOptimizer*> byNumber;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>
        places; // number and name -> of the parameter
    for (const RecordedOptimizer& one : optimizers->all) {
        byNumber.emplace(one.number, &one);
        for (std::uint32_t index = 0; index < one.names.size(); ++index)
            places.emplace(std::pair{ one.number, one.names[index].value }, index);
    }
    const std::vector<EventIndex> begins
        = beginsOf(*run.steps, place == ZeroGradPlace::BeforeBackward ? Phase::Backward : Phase::Forward);
    const DeviceTrace& trace = *run.trace;
    const ListedTensors& tensors = run.categories->tensors();
    RunEdits edits;
    RuleUse use{ BlockRule::Zeroed, 0, 0 };
    std::uint32_t last = UINT32_MAX; // rows are by block
    for (const ListedTensors::Placed& placed : tensors.all()) {
        const RoleListing& listing = tensors.listing(placed);
        const auto optimizer = byNumber.find(listing.optimizer);
        if (listing.kind != wire::RoleKind::Gradient || placed.block.isOlder() || optimizer == byNumber.end())
            continue;
        const auto block = static_cast<std::uint32_t>(placed.block.row());
        if (std::exchange(last, block) == block)
            continue;
        // The step that uses it, and the next one, which does not.
        const auto& steps = optimizer->second->steps;
        const auto step = std::ranges::lower_bound(
            steps, trace.blocks().birth(placed.block), {}, &RecordedOptimizer::Step::begin);
        if (step == steps.end())
            continue;
        const EventIndex death = recordedDeath(trace, block).event;
        if (std::next(step) != steps.end() && death >= std::next(step)->end)
            return fail(Error::Kind::Refused,
                say("the program keeps its gradients from step to step, and nothing tells where they would "
                    "be "
                    "made again"),
                say("let zero_grad() set them to none, as it does by itself, and record the program again"));
        const auto parameter = places.find(std::pair{ listing.optimizer, listing.name.value });
        RunEdits::Place dies{ step->end, RunEdits::Place::kLast,
            parameter == places.end() ? RunEdits::Place::kLast : parameter->second };
        if (place != ZeroGradPlace::AfterStep) {
            const auto next = std::ranges::lower_bound(begins, step->end);
            dies.event = next == begins.end() ? RunEdits::Added::kNever : *next;
        }
        if (!asksBetween(trace, dies.event, death))
            continue;
        edits.moves.push_back({ block, dies });
        ++use.blocks;
        use.bytes = wrapAdd(use.bytes, trace.blocks().requestedBytes[placed.block]);
    }
    if (use.blocks > 0)
        edits.uses.push_back(use);
    return edits;
}

} // namespace strata::model
