// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"
#include "model/dryrun/dry_run_answer.h"

#include <vector>

namespace strata::cli {

/// Runs the command once more for each compute capability of the catalogue but that of `run`, on the largest
/// card that has it, without its output: cards of one compute capability run the same kernels.
[[nodiscard]] model::Result<std::vector<model::OtherCardRun>> runOnEachCard(
    const DryRunOptions& options, const DryRun& run);

/// model::cardFits() of a run, where `others` tell of cards that are not comparable.
[[nodiscard]] std::vector<model::CardFit> fitsOf(
    const DryRun& run, const std::vector<model::OtherCardRun>& others);

} // namespace strata::cli
