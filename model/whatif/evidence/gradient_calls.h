// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/run/step_edits.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace strata::model {

/// Where a deep step has each gradient: behind the call of AccumulateGrad that took it, or made a copy of it.
/// As changes that let go of it there, of those that `isGradient` has, where they are let go of later.
/// O(rows + takes log calls + blocks of the step log calls).
[[nodiscard]] std::vector<StepEdits::Change> gradientsTaken(const DeviceTrace& trace, const DeepStep& deep,
    const StepOwners& owners, const std::function<bool(std::uint32_t)>& isGradient);

} // namespace strata::model
