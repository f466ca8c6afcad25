// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/step_gradients.h"

#include "model/analysis/training/roles/listed_tensors.h"
#include "model/trace/program/roles.h"
#include "model/whatif/run/step_edits.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace strata::model {

Result<std::vector<StepGradient>> gradientsOfSteps(
    const RecordedRun& run, const RecordedOptimizers& optimizers)
{
    using Named = std::pair<std::uint32_t, std::uint32_t>; // number of an optimizer, name of a parameter
    std::map<Named, std::pair<std::size_t, std::uint32_t>> parameters;
    for (std::size_t i = 0; i < optimizers.all.size(); ++i)
        for (std::uint32_t index = 0; index < optimizers.all[i].names.size(); ++index)
            parameters.emplace(Named{ optimizers.all[i].number, optimizers.all[i].names[index].value },
                std::pair{ i, index });
    std::vector<StepGradient> gradients;
    const BlockColumns& blocks = run.trace->blocks();
    const ListedTensors& tensors = run.categories->tensors();
    for (const ListedTensors::Placed& placed : tensors.all()) {
        const RoleListing& listing = tensors.listing(placed);
        const auto parameter = parameters.find(Named{ listing.optimizer, listing.name.value });
        if (listing.kind != wire::RoleKind::Gradient || placed.block.isOlder()
            || parameter == parameters.end())
            continue;
        const auto block = static_cast<std::uint32_t>(placed.block.row());
        const auto& [optimizer, index] = parameter->second;
        const auto& steps = optimizers.all[optimizer].steps;
        const auto step = std::ranges::lower_bound(
            steps, blocks.birth(placed.block), {}, &RecordedOptimizer::Step::begin);
        if (step == steps.end() || (!gradients.empty() && gradients.back().block == block))
            continue;
        if (std::next(step) != steps.end() && recordedDeath(*run.trace, block).event >= std::next(step)->end)
            return fail(Error::Kind::Refused,
                say("steps keep gradients, and nothing tells where they would be made again"),
                say("let zero_grad() set them to none, as it does by itself, and record the program again"));
        gradients.push_back({ block, optimizer, static_cast<std::size_t>(step - steps.begin()), index });
    }
    return gradients;
}

} // namespace strata::model
