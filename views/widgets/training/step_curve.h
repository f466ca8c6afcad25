// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/timeline/device_timeline.h"
#include "views/widgets/axis/x_mapping.h"

#include <vector>

namespace strata::views {

/// One step over its own events, from its first to its last: a value per pixel column. The cost is that of
/// the columns, and of the phases.
struct StepCurve {
    struct PhaseRun {
        model::Phase phase = model::Phase::Unknown;
        int x0 = 0, x1 = 0; ///< columns [x0, x1)
        friend bool operator==(const PhaseRun&, const PhaseRun&) = default;
    };

    XMapping x; ///< events to columns
    std::vector<model::CurveRange> requested; ///< of each column
    std::vector<PhaseRun> phases; ///< from the first column to the last; neighbours differ
};

[[nodiscard]] StepCurve stepCurveOf(
    const model::DeviceTimeline& timeline, const model::TrainingStep& step, int columns);

} // namespace strata::views
