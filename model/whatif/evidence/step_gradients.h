// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::model {

/// A gradient that the program told of, and the step that uses it.
struct StepGradient {
    std::uint32_t block = 0; ///< row
    std::size_t optimizer = 0, step = 0; ///< of RecordedOptimizers::all, and of its steps
    std::uint32_t parameter = 0; ///< of its parameters
};

/// By block; of several gradients in one the first. Those that no step follows are left out. Refused: steps
/// keep gradients, so that nothing tells where they would be made again. O(listings log steps).
[[nodiscard]] Result<std::vector<StepGradient>> gradientsOfSteps(
    const RecordedRun& run, const RecordedOptimizers& optimizers);

} // namespace strata::model
