// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/step_list.h"

#include "model/base/wrap.h"

#include <algorithm>

namespace strata::model {

namespace {

/// A block stays if it outlives so many steps of training behind its own.
constexpr std::size_t kStepsToStay = 2;

/// More than what stays of a later step, by this share of what stays of the first, is still being made.
constexpr double kWarmupMadeShare = 0.01;

/// Bytes born in each of the steps that outlive the `kStepsToStay` behind it.
std::vector<std::int64_t> bytesThatStay(const DeviceTrace& trace, const std::vector<TrainingStep*>& steps)
{
    const BlockColumns& blocks = trace.blocks();
    std::vector<std::int64_t> bytes;
    std::size_t row = 0;
    for (std::size_t i = 0; i + kStepsToStay < steps.size(); ++i) {
        const EventIndex until = steps[i + kStepsToStay]->last;
        std::int64_t sum = 0;
        for (row = std::max(row, static_cast<std::size_t>(allocsBefore(trace, steps[i]->first)));
             row < blocks.bornCount() && static_cast<EventIndex>(blocks.alloc[row].value) <= steps[i]->last;
             ++row)
            if (blocks.death(BlockId::born(row)) > until)
                sum = wrapAdd(sum, blocks.requestedBytes.born[row]);
        bytes.push_back(sum);
    }
    return bytes;
}

/// Bytes born in a step less those that went in it.
std::int64_t growth(const DeviceTrace& trace, const TrainingStep& step)
{
    std::int64_t bytes = 0;
    for (EventIndex event = step.first; event <= step.last; ++event)
        bytes = wrapAdd(bytes, trace.requestedDelta(event));
    return bytes;
}

} // namespace

void markWarmup(const DeviceTrace& trace, std::vector<TrainingStep>& steps)
{
    std::vector<TrainingStep*> training;
    for (TrainingStep& step : steps)
        if (step.kind == StepKind::Train)
            training.push_back(&step);
    if (training.empty())
        return;
    const std::vector<std::int64_t> stays = bytesThatStay(trace, training);
    if (stays.size() < 2) { // too few to compare: what a first step leaves behind is made in it
        training.front()->warmup = growth(trace, *training.front()) > 0;
        return;
    }
    std::vector<std::int64_t> later(
        stays.begin() + static_cast<std::ptrdiff_t>(stays.size() / 2), stays.end());
    const auto middle = later.begin() + std::ssize(later) / 2;
    std::ranges::nth_element(later, middle);
    const double most = static_cast<double>(*middle) + kWarmupMadeShare * static_cast<double>(stays.front());
    for (std::size_t i = 0; i < stays.size() && static_cast<double>(stays[i]) > most; ++i)
        training[i]->warmup = true;
}

} // namespace strata::model
