// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "model/whatif/plan/checkpoint_plan.h"
#include "model/whatif/plan/fit_plan.h"

#include <string_view>

namespace strata::cli {

/// The value of `"plan"`.
void writePlan(JsonWriter& json, const model::CheckpointPlan& plan);

/// A table of the modules, what it is held against, and the code to paste.
void printPlan(Output& out, const model::CheckpointPlan& plan);

/// The same of what fits a device; `method` is what was asked for, "cheapest".
void writePlan(JsonWriter& json, const model::FitPlan& plan, std::string_view method);
void printPlan(Output& out, const model::FitPlan& plan, std::string_view method);

} // namespace strata::cli
