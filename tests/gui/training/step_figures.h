// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/gui/tables/device_data.h"
#include "tests/gui/training/training_run.h"
#include "views/models/document/step_figures.h"

namespace strata::test {

/// A run, or a generation of one, with its steps, as the document would have them.
template <class Run> std::shared_ptr<const views::DeviceData> withSteps(Run run)
{
    auto data = std::make_shared<views::DeviceData>(*deviceData(std::move(run)));
    auto training = std::make_shared<views::TrainingData>();
    training->session = data->session;
    training->trace = data->trace;
    auto steps = model::findTrainingSteps(*data->trace, data->timeline->clock());
    EXPECT_TRUE(steps);
    training->steps = std::make_shared<const model::TrainingSteps>(std::move(*steps));
    data->training = std::move(training);
    return data;
}

} // namespace strata::test
