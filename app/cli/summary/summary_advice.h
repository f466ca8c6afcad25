// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/answers/summary_answer.h"
#include "model/trace/device_trace.h"

#include <string>
#include <vector>

namespace strata::cli {

/// What would help that device, of which `replay` is a replay: nothing where nothing tells. A few replays
/// more.
[[nodiscard]] std::vector<model::Advice> adviceOn(
    const model::DeviceTrace& trace, const model::ReplayReport& replay);

/// "Do this" of one device, if there is any.
void printAdvice(Output& out, const std::string& file, const model::SummaryOfDevice& device);

} // namespace strata::cli
