// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/training_data.h"

#include "views/models/device_data.h"

#include <utility>

namespace strata::views {

bool TrainingData::isOf(const DeviceData& device) const
{
    return trace == device.trace;
}

bool TrainingData::knowsBlocksOf(const DeviceData& device) const
{
    return isOf(device) || device.trace->keepsRowsOf(*trace);
}

void analyseTraining(const DeviceData& device, std::shared_ptr<const model::CategoryRules> rules,
    const JobContext& context, const std::function<void(std::shared_ptr<const TrainingData>)>& publish)
{
    const model::DeviceTrace& trace = *device.trace;
    const model::Clock& clock = device.timeline->clock();
    const model::Progress progress = context.forModel();
    TrainingData data;
    data.session = device.session;
    data.trace = &trace;
    data.rules = std::move(rules);
    auto steps = model::findTrainingSteps(trace, clock, progress);
    if (!steps)
        return;
    data.steps = std::make_shared<const model::TrainingSteps>(std::move(*steps));
    context.progress(0.25);
    publish(std::make_shared<const TrainingData>(data));

    auto categories = model::Categories::of(trace, clock, *data.steps, { data.rules.get() }, progress);
    if (!categories)
        return;
    data.categories = std::make_shared<const model::Categories>(std::move(*categories));
    data.byCategory = std::make_shared<const model::GroupTable>(
        trace, model::Grouping::Category, model::categoryLabels(trace, *data.categories));
    data.byModule = std::make_shared<const model::GroupTable>(
        trace, model::Grouping::Module, model::moduleLabels(trace, *data.categories));
    context.progress(0.5);
    publish(std::make_shared<const TrainingData>(data));

    auto leaks = model::findLeaks(trace, *data.steps, {}, progress);
    if (!leaks)
        return;
    data.leaks = std::make_shared<const model::LeakReport>(std::move(*leaks));
    context.progress(0.75);
    publish(std::make_shared<const TrainingData>(data));

    auto spikes = model::findSpikes(trace, *data.steps, progress);
    if (context.cancelled())
        return;
    data.spikes = std::make_shared<const std::vector<model::Spike>>(std::move(spikes));
    data.complete = true;
    publish(std::make_shared<const TrainingData>(std::move(data)));
}

} // namespace strata::views
