// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "model/whatif/checkpoint_plan.h"

#include <string>

namespace strata::cli {

/// The value of `"plan"`.
void writePlan(JsonWriter& json, const model::CheckpointPlan& plan);

/// A table of the modules, what it is held against, and the code to paste.
void printPlan(Output& out, const model::CheckpointPlan& plan);

/// "3 of 12 modules behind checkpoints", for a scenario that has them.
[[nodiscard]] std::string planName(const model::CheckpointPlan& plan);

} // namespace strata::cli
