// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/steps.h"

#include "model/base/wrap.h"
#include "model/timeline/curve.h"

#include <algorithm>

namespace strata::model {

std::vector<AnnotationSpan> namedSteps(const DeviceTrace& trace, const Clock& clock)
{
    if (trace.recording().annotations.empty())
        return {};
    return trainingStepsAmong(annotationSpans(trace.recording(), trace.device(), clock, SpanTimes::Whole));
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

std::vector<std::optional<AnnotationSpan>> namesOf(
    const TrainingSteps& steps, const std::vector<AnnotationSpan>& named)
{
    std::vector<std::optional<AnnotationSpan>> names(steps.steps.size());
    for (const AnnotationSpan& span : named) {
        if (!stepNumberIn(span.name))
            continue;
        const bool isMark = span.beginNs == span.endNs; // what it begins comes behind it
        const auto [first, last] = eventsOf(span);
        const TrainingStep* const step = steps.at(isMark ? span.last + 1 : first + (last - first) / 2);
        if (step == nullptr)
            continue;
        std::optional<AnnotationSpan>& name = names[static_cast<std::size_t>(step - steps.steps.data())];
        if (!name)
            name = span;
    }
    return names;
}

std::vector<StepUse> stepUses(const DeviceTrace& trace)
{
    std::vector<StepUse> uses;
    const Clock clock(trace);
    const auto found = findTrainingSteps(trace, clock); // nobody cancels it
    if (!found || found->steps.empty())
        return uses;
    const std::vector<std::optional<AnnotationSpan>> names = namesOf(*found, namedSteps(trace, clock));
    const Curve requested(trace, CurveKind::Requested);
    const Curve reserved(trace, CurveKind::Reserved);
    const auto timeOf = [&](EventIndex event) {
        return wrapSub(trace.events().timeNs[static_cast<std::size_t>(event)], clock.startNs());
    };
    for (std::size_t i = 0; i < found->steps.size(); ++i) {
        const TrainingStep& step = found->steps[i];
        StepUse& use = uses.emplace_back();
        use.step = step;
        use.name = names[i];
        if (trace.events().hasTimes()) {
            use.beginNs = timeOf(step.first);
            use.durationNs
                = wrapSub(timeOf(i + 1 < found->steps.size() ? step.last + 1 : step.last), *use.beginNs);
        }
        const CurveRange most = requested.range(step.first, step.last);
        use.requestedBytesPeak = most.max;
        use.peakEvent = most.maxEvent;
        if (trace.totals().reservedKnown)
            use.reservedBytesPeak = reserved.range(step.first, step.last).max;
        use.requestedBytesEnd = requested.range(step.last, step.last).max;
    }
    return uses;
}

} // namespace strata::model
