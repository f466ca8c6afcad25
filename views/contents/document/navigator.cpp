// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/navigator.h"

#include "model/timeline/annotation_spans.h"

#include <algorithm>

namespace strata::views::navigator {

model::EventIndex peak(const DeviceData& device)
{
    return device.trace->totals().requestedPeakEvent;
}

std::optional<model::EventIndex> event(
    const DeviceData& device, const std::optional<EventRange>& selection, model::EventIndex by)
{
    const model::EventIndex last = device.trace->eventCount() - 1;
    if (last < 0)
        return std::nullopt;
    if (!selection)
        return by > 0 ? 0 : last;
    return std::clamp<model::EventIndex>((by > 0 ? selection->last : selection->first) + by, -1, last);
}

std::vector<EventRange> steps(const DeviceData& device)
{
    std::vector<EventRange> found;
    if (device.training && device.training->steps)
        for (const model::TrainingStep& step : device.training->steps->steps)
            if (step.kind != model::StepKind::Setup)
                found.push_back({ step.first, step.last });
    if (!found.empty())
        return found;
    for (const model::AnnotationSpan& span : model::stepsAmong(*device.annotations))
        found.push_back(
            { std::max<model::EventIndex>(span.first, 0), std::max<model::EventIndex>(span.last, 0) });
    return found;
}

std::optional<EventRange> step(
    const std::vector<EventRange>& steps, const std::optional<EventRange>& selection, bool next)
{
    if (steps.empty())
        return std::nullopt;
    if (!selection)
        return next ? steps.front() : steps.back();
    if (next) {
        const auto after = std::find_if(
            steps.begin(), steps.end(), [&](const EventRange& s) { return s.first > selection->first; });
        return after == steps.end() ? std::nullopt : std::optional(*after);
    }
    const auto before = std::find_if(
        steps.rbegin(), steps.rend(), [&](const EventRange& s) { return s.first < selection->first; });
    return before == steps.rend() ? std::nullopt : std::optional(*before);
}

} // namespace strata::views::navigator
