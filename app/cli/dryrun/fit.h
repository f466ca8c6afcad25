// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/fit_search.h"
#include "app/cli/dryrun/options.h"

namespace strata::cli {

/// The largest values of a command that fit a card.
struct FitResult {
    std::vector<model::FitVariable> variables;
    FitOutcome outcome;
    std::int64_t capacityBytes = 0;
    std::string device;
    std::string stepsNote; ///< of the first run that --steps did not end; empty without one
};

/// Runs the command on the simulated device, with values in place of {NAME}, until the largest that fits are
/// known. Fails when the command fails for another reason than memory.
[[nodiscard]] model::Result<FitResult> runFit(const DryRunOptions& options);

/// What `strata dryrun --fit --json` prints.
[[nodiscard]] model::DryRunFitAnswer fitAnswer(const FitResult& result);
/// The same for people.
[[nodiscard]] std::string fitText(const FitResult& result);

} // namespace strata::cli
