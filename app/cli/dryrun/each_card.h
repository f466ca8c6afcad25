// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"
#include "model/dryrun/dry_run_answer.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace strata::cli {

/// How many runs, one or two, fit into host memory at once, where one takes at most `hostBytes`.
[[nodiscard]] std::size_t runsAtOnce(std::int64_t availableBytes, std::int64_t hostBytes);

/// Runs on other cards, in the catalogue's order.
struct EachCard {
    std::vector<model::OtherCardRun> runs;
    bool interrupted = false; ///< then some are missing
};

/// Runs the command once more for each compute capability of the catalogue but that of `run`, on the largest
/// card that has it, without its output: cards of one compute capability run the same kernels. Then on cards
/// where PyTorch would have to free cached memory. Two at a time where memory allows. Stops after an
/// interrupt.
[[nodiscard]] model::Result<EachCard> runOnEachCard(const DryRunOptions& options, const DryRun& run);

/// model::cardFits() of a run, where `others` hold for their own cards and for those that are not comparable.
[[nodiscard]] std::vector<model::CardFit> fitsOf(
    const DryRun& run, const std::vector<model::OtherCardRun>& others);

} // namespace strata::cli
