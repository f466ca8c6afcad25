// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/training/step_curve.h"

#include <algorithm>

namespace strata::views {

StepCurve stepCurveOf(const model::DeviceTimeline& timeline, const model::TrainingStep& step, int columns)
{
    StepCurve curve;
    curve.x = XMapping(model::Axis::Events,
        { static_cast<double>(step.first), static_cast<double>(step.last) + 1 }, columns);
    if (columns <= 0)
        return curve;
    curve.requested = timeline.requested().columns(model::columnEdges(curve.x.window(), timeline.clock()));
    auto span = step.phases.begin();
    for (int column = 0; column < columns; ++column) {
        const auto middle = static_cast<model::EventIndex>(curve.x.valueAt(column + 0.5));
        while (span != step.phases.end() && span->last < middle)
            ++span;
        const model::Phase phase
            = span != step.phases.end() && span->first <= middle ? span->phase : model::Phase::Unknown;
        if (!curve.phases.empty() && curve.phases.back().phase == phase)
            ++curve.phases.back().x1;
        else
            curve.phases.push_back({ phase, column, column + 1 });
    }
    return curve;
}

} // namespace strata::views
