// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"

namespace strata::cli {

/// What another order of addresses came to.
struct SpreadRun {
    std::string addresses;
    std::int64_t reservedPeak = 0;
    bool fits = true;
    int exitStatus = 0;
};

/// Runs the command once for each order of addresses but that of `options`, without its output.
[[nodiscard]] model::Result<std::vector<SpreadRun>> runSpread(const DryRunOptions& options);

} // namespace strata::cli
