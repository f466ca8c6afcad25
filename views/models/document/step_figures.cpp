// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/step_figures.h"

#include "model/timeline/reserved_at.h"

#include <algorithm>
#include <utility>

namespace strata::views {

std::optional<std::size_t> StepFigures::rowAt(model::EventIndex event) const
{
    const model::TrainingStep* const step = event >= 0 ? steps().at(event) : nullptr;
    if (step == nullptr)
        return std::nullopt;
    return static_cast<std::size_t>(step - steps().steps.data());
}

std::shared_ptr<const StepFigures> stepFigures(std::shared_ptr<const DeviceData> device)
{
    auto all = std::make_shared<StepFigures>();
    all->device = std::move(device);
    const model::DeviceTimeline& timeline = *all->device->timeline;
    std::vector<std::size_t> steady;
    for (const model::TrainingStep& step : all->steps().steps) {
        const std::size_t row = all->rows.size();
        all->rows.push_back({ &step, timeline.requested().range(step.first, step.last),
            timeline.requested().at(step.last), model::reservedAt(timeline, step.last) });
        for (const model::PhaseSpan& span : step.phases)
            all->phases[static_cast<std::size_t>(span.phase)] = true;
        if (step.phases.empty())
            all->phases[static_cast<std::size_t>(model::Phase::Unknown)] = true;
        const std::int64_t peak = all->rows.back().peak.max;
        if (!all->highest || peak > all->highestBytes) {
            all->highest = row;
            all->highestBytes = peak;
        }
        if (step.kind != model::StepKind::Train)
            continue;
        if (!all->firstTraining)
            all->firstTraining = row;
        if (!step.warmup)
            steady.push_back(row);
    }
    all->steady = std::ssize(steady);
    if (!steady.empty()) {
        const auto middle = steady.begin() + (std::ssize(steady) - 1) / 2;
        const auto place = [&](std::size_t row) { return std::pair(all->rows[row].peak.max, row); };
        std::ranges::nth_element(steady, middle, {}, place);
        all->medianSteady = *middle;
    }
    return all;
}

} // namespace strata::views
