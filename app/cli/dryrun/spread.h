// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"
#include "model/dryrun/dry_run_answer.h"

namespace strata::cli {

/// Runs the command once for each order of addresses but that of `options`, without its output.
[[nodiscard]] model::Result<std::vector<model::AddressOrderRun>> runSpread(const DryRunOptions& options);

} // namespace strata::cli
