// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/options.h"
#include "app/cli/output.h"
#include "model/base/result.h"

namespace strata::cli {

/// Runs the command on the simulated device as often as the options ask for and prints what came of it. The
/// exit code: 0 when it fits, 1 when it does not or the command failed. Kind::NotFound and Kind::Cancelled
/// for what became of the command, other kinds for what keeps it from starting.
[[nodiscard]] model::Result<int> dryRun(const DryRunOptions& options, Output& out);

} // namespace strata::cli
