// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/steps_answer.h"

#include <algorithm>
#include <utility>

namespace strata::model {

namespace {

/// The number of the step that a deep one is; none: no step ends or begins where it does.
std::optional<std::int64_t> numberOf(const DeepStep& deep, const TrainingSteps& found)
{
    const EventIndex middle = deep.beginEvent + (deep.endEvent - deep.beginEvent) / 2;
    const auto step = std::ranges::find_if(
        found.steps, [&](const TrainingStep& each) { return each.first <= middle && middle <= each.last; });
    return step == found.steps.end() ? std::nullopt : step->shownNumber();
}

std::vector<DeepStepAnswer> deepStepsOf(const DeviceTrace& trace, const TrainingSteps& found)
{
    std::vector<DeepStepAnswer> answers;
    const Recording& recording = trace.recording();
    if (const auto* const part = recording.parts.find<DeepSteps>())
        for (const DeepStep& step : part->steps)
            if (step.device == trace.device()) {
                const DeepCheck check = checkDeepStep(trace, step);
                answers.push_back(
                    { numberOf(step, found), &step, check, sayDeepCheck(step, check, recording.strings) });
            }
    return answers;
}

} // namespace

std::array<std::int64_t, kPhases> StepMemory::eventsOfPhases() const
{
    std::array<std::int64_t, kPhases> events{};
    for (const PhaseSpan& span : step->phases)
        events[static_cast<std::size_t>(span.phase)] += span.last - span.first + 1;
    return events;
}

DeviceSteps::DeviceSteps(const DeviceTrace& trace, TrainingSteps steps, bool why)
    : device(trace.device())
    , training(std::move(steps))
    , deep(deepStepsOf(trace, training))
{
    const Curve requested(trace, CurveKind::Requested), reserved(trace, CurveKind::Reserved);
    const bool reservedKnown = trace.totals().reservedKnown;
    for (const TrainingStep& step : training.steps)
        this->steps.push_back({ &step, requested.range(step.first, step.last), requested.at(step.last),
            reservedKnown ? std::optional(reserved.at(step.last)) : std::nullopt, {} });
    if (!why)
        return;
    std::vector<StepReason> reasons = reasonsOf(trace, training);
    for (std::size_t i = 0; i < reasons.size(); ++i)
        this->steps[i].why = std::move(reasons[i]);
}

} // namespace strata::model
