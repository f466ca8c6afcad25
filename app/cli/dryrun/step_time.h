// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"
#include "model/analysis/work/costs/least_step.h"
#include "model/cards/catalogue.h"
#include "model/dryrun/dry_run_time.h"

#include <string>
#include <vector>

namespace strata::cli {

/// How long a step takes at least on one card.
struct CardTime {
    const model::Card* card = nullptr;
    double leastNs = 0;
    bool fits = true; ///< the program does, as fits_on has it
};

/// What is told with --time of one process: that which needs longest on the card that was simulated.
struct StepTime {
    model::LaunchedStep step;
    int rank = -1; ///< -1: not of many
    int devices = 1; ///< of the process that were used
    model::LeastStep least; ///< on the card that was simulated
    std::vector<CardTime> cards; ///< in the order of the catalogue; those with peaks that are known
};

/// `others` as of fitsOf(). Nothing of what the program launched was told: `step.problem` says why.
[[nodiscard]] StepTime stepTimeOf(const DryRun& run, const std::vector<model::OtherCardRun>& others);

/// What `strata dryrun --json` prints of it.
[[nodiscard]] model::DryRunTime timeAnswer(const StepTime& time, const std::string& card);
/// The same for people.
[[nodiscard]] std::string stepTimeText(const StepTime& time, const std::string& card);

} // namespace strata::cli
