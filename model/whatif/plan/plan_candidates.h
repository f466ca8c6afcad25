// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/ask/module_choice.h"
#include "model/whatif/evidence/checkpoint_regions.h"
#include "model/whatif/plan/checkpoint_plan.h"

#include <cstddef>
#include <vector>

namespace strata::model {

/// A module that a plan may checkpoint, with its calls in the deep step.
struct PlanCandidate {
    PlanModule module;
    std::vector<CheckpointRegion> regions; ///< those that save something
    std::vector<std::size_t> within; ///< other candidates that it lies in, by number
};

/// Those that one of `among` matches (none: all), and none of `taken`, nor lies within one. In the order of
/// their first calls. O(windows x (depth + what they save)).
[[nodiscard]] std::vector<PlanCandidate> planCandidates(const DeviceTrace& trace,
    const CheckpointRegions& regions, const RecomputeCost& cost, const std::vector<std::int64_t>& bytes,
    const std::vector<ModuleChoice>& among, const std::vector<ModuleChoice>& taken);

/// What the forwards of the step cost.
[[nodiscard]] std::int64_t forwardCost(const CheckpointRegions& regions, const RecomputeCost& cost);

} // namespace strata::model
