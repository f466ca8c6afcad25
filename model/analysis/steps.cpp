// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/steps.h"

#include "model/timeline/curve.h"

#include <algorithm>

namespace strata::model {

std::vector<Step> stepsOf(const DeviceTrace& trace, const Clock& clock)
{
    std::vector<Step> steps;
    if (trace.recording().annotations.empty())
        return steps;
    for (AnnotationSpan& span :
        trainingStepsAmong(annotationSpans(trace.recording(), trace.device(), clock, SpanTimes::Whole)))
        steps.push_back({ span, stepNumberIn(span.name).value_or(std::ssize(steps)) });
    return steps;
}

bool tellsOfSteps(const Recording& recording)
{
    std::vector<bool> known(recording.strings.size());
    for (const auto& row : recording.annotations) {
        if (!row.name.valid() || known[row.name.index()])
            continue;
        if (tellsOfStep(recording.strings[row.name]))
            return true;
        known[row.name.index()] = true;
    }
    return false;
}

SpanEvents eventsOf(const AnnotationSpan& span)
{
    return { std::min(span.first + 1, span.last), span.last };
}

std::vector<StepUse> stepUses(const DeviceTrace& trace)
{
    std::vector<StepUse> uses;
    const std::vector<Step> steps = stepsOf(trace, Clock(trace));
    if (steps.empty())
        return uses;
    const Curve requested(trace, CurveKind::Requested);
    const Curve reserved(trace, CurveKind::Reserved);
    for (const Step& step : steps) {
        const auto [first, last] = eventsOf(step.span);
        const CurveRange most = requested.range(first, last);
        uses.push_back({ step, most.max, most.maxEvent, reserved.range(first, last).max,
            requested.range(last, last).max });
    }
    return uses;
}

} // namespace strata::model
