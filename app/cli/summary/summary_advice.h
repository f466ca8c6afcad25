// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "app/cli/summary/summary_report.h"
#include "model/trace/device_trace.h"

#include <string>
#include <vector>

namespace strata::cli {

/// Whether the summary of that device looks for advice.
[[nodiscard]] bool isWorthAdvice(const model::DeviceSummary& summary);

/// What would help that device: nothing where nothing tells. A few replays.
[[nodiscard]] std::vector<model::Advice> adviceOn(const model::DeviceTrace& trace);

/// `"advice"`: null where it was looked for on no device.
void writeAdvice(JsonWriter& json, const std::string& file, const std::vector<DeviceReport>& devices);

/// "Do this" of one device, if there is any.
void printAdvice(Output& out, const std::string& file, const DeviceReport& device);

} // namespace strata::cli
