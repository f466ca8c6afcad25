// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/training_data.h"

#include "views/models/document/device_data.h"

#include <utility>

namespace strata::views {

bool TrainingData::hasPartsOf(const TrainingData& other) const
{
    return (steps || !other.steps) && (categories || !other.categories) && (leaks || !other.leaks)
        && (spikes || !other.spikes);
}

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
    if (device.training && device.training->isOf(device)) {
        const TrainingData& known = *device.training;
        data.steps = known.steps;
        data.leaks = known.leaks;
        data.spikes = known.spikes;
        data.unused = known.unused;
        if (known.rules == rules) {
            data.categories = known.categories;
            data.byCategory = known.byCategory;
            data.byModule = known.byModule;
        }
    }
    data.session = device.session;
    data.trace = &trace;
    data.rules = std::move(rules);
    const auto tell = [&](double fraction) {
        context.progress(fraction);
        publish(std::make_shared<const TrainingData>(data));
    };
    if (!data.steps) {
        auto steps = model::findTrainingSteps(trace, clock, progress);
        if (!steps)
            return;
        data.steps = std::make_shared<const model::TrainingSteps>(std::move(*steps));
        tell(0.25);
    }
    if (!data.categories) {
        model::CategoryOptions options{ .rules = data.rules.get() };
        if (device.training && device.training->categories) {
            options.earlier = device.training->categories.get();
            options.earlierTrace = device.training->trace;
        }
        auto categories = model::Categories::of(trace, clock, *data.steps, options, progress);
        if (!categories)
            return;
        data.categories = std::make_shared<const model::Categories>(std::move(*categories));
        data.byCategory = std::make_shared<const model::GroupTable>(
            trace, model::Grouping::Category, model::categoryLabels(trace, *data.categories));
        data.byModule = std::make_shared<const model::GroupTable>(
            trace, model::Grouping::Module, model::moduleLabels(trace, *data.categories));
        tell(0.5);
    }
    if (!data.leaks) {
        auto leaks = model::findLeaks(trace, *data.steps, {}, progress);
        if (!leaks)
            return;
        data.leaks = std::make_shared<const model::LeakReport>(std::move(*leaks));
        tell(0.75);
    }
    if (!data.spikes) {
        auto spikes = model::findSpikes(trace, *data.steps, progress);
        if (context.cancelled())
            return;
        data.spikes = std::make_shared<const std::vector<model::Spike>>(std::move(spikes));
        if (auto unused = model::findUnusedMemory(trace); unused && model::isMuch(*unused, trace))
            data.unused = std::move(*unused);
    }
    data.complete = true;
    tell(1);
}

} // namespace strata::views
