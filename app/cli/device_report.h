// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/report.h"
#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/waits/step_times.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace strata::cli {

/// A JSON array: `devices` of a rank of `strata timeline`.
void writeDevices(JsonWriter& json, const std::vector<model::DeviceWork>& devices);
void printDevices(Output& out, const std::vector<model::DeviceWork>& devices);

/// The member `steps`; and the same for people, at most `most` rows, times from `startNs` on.
void writeSteps(JsonWriter& json, const std::vector<model::ProfilerStep>& steps);
void printSteps(
    Output& out, const std::vector<model::ProfilerStep>& steps, std::int64_t startNs, std::size_t most);
/// The member `step_times`: null without steps.
void writeStepTimes(JsonWriter& json, const std::optional<model::StepTimes>& times);
/// {"least_ns", "lower_ns", "median_ns", "upper_ns", "most_ns"}
void writeSpread(JsonWriter& json, const model::Spread& spread);

} // namespace strata::cli
