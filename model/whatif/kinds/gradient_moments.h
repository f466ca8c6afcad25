// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

namespace strata::model {

struct GradientMoment {
    std::uint32_t block = 0; ///< row
    /// The event before which AccumulateGrad has it; of one that the deep step has no counterpart of, the
    /// next alloc behind its birth.
    EventIndex ready = 0;
};

/// By optimizer, its step and its parameter, as StepGradient counts them.
using GradientMoments = std::map<std::tuple<std::size_t, std::size_t, std::uint32_t>, GradientMoment>;

/// When each gradient is there, for optimizers that would step as gradients come. Refused: no deep step tells
/// it, or steps do other things than that one; steps have several backwards, or keep gradients; something is
/// asked for between backward and a step, as clipping does that takes all gradients. O(events + rows of the
/// deep step + listings log steps).
[[nodiscard]] Result<GradientMoments> gradientMoments(
    const RecordedRun& run, const RecordedOptimizers& optimizers);

} // namespace strata::model
