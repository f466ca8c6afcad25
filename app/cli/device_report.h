// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/report.h"
#include "model/analysis/work/device_work.h"
#include "model/analysis/work/step_times.h"

#include <optional>
#include <vector>

namespace strata::cli {

/// A JSON array: `devices` of a rank of `strata timeline`.
void writeDevices(JsonWriter& json, const std::vector<model::DeviceWork>& devices);
void printDevices(Output& out, const std::vector<model::DeviceWork>& devices);

/// The member `step_times`: null without steps.
void writeStepTimes(JsonWriter& json, const std::optional<model::StepTimes>& times);
/// {"least_ns", "lower_ns", "median_ns", "upper_ns", "most_ns"}
void writeSpread(JsonWriter& json, const model::Spread& spread);

} // namespace strata::cli
