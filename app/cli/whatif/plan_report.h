// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/whatif/plan/checkpoint_plan.h"
#include "model/whatif/plan/fit_plan.h"

namespace strata::cli {

/// A table of the modules, what it is held against, and the code to paste.
void printPlan(Output& out, const model::CheckpointPlan& plan);
/// The same of what fits a device.
void printPlan(Output& out, const model::FitPlan& plan);

} // namespace strata::cli
