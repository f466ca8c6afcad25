// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/report.h"
#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/waits/step_times.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::cli {

void printDevices(Output& out, const std::vector<model::DeviceWork>& devices);

/// At most `most` rows; `times` of all steps, and times from `startNs` on.
void printSteps(Output& out, const std::vector<model::ProfilerStep>& steps, const model::StepTimes& times,
    std::int64_t startNs, std::size_t most);

} // namespace strata::cli
