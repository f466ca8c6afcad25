// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"
#include "app/cli/dryrun/spread.h"
#include "model/dryrun/dry_run_answer.h"

#include <optional>
#include <string>

namespace strata::cli {

/// All that is told of a dry run.
struct DryRunReport {
    DryRunOptions options;
    DryRun run;
    std::vector<model::DeviceGroups> groups; ///< of the process that reserved most, by device
    std::string whyNoDeepStep; ///< of its recording; empty: the deep step is there, or none was asked for
    std::optional<DryRun> changed; ///< the second run, with options.changes
    std::vector<model::AddressOrderRun> spread;
    std::vector<model::OtherCardRun> eachCard, changedOnEachCard; ///< of `run` and of `changed`
};

/// The groups at the peak of each GPU that the process with the highest reserved peak used; empty without a
/// snapshot.
/// `whyNoDeepStep` is filled as of DryRunReport.
[[nodiscard]] std::vector<model::DeviceGroups> peakGroups(const DryRun& run, std::string& whyNoDeepStep);

/// After an out-of-memory: the cards that have more than the one that was simulated, and room for what was
/// refused. Empty without one.
[[nodiscard]] std::vector<model::CardMargin> cardsToTry(const DryRun& run);

/// What `strata dryrun --json` prints.
[[nodiscard]] model::DryRunAnswer dryRunAnswer(const DryRunReport& report);
/// The same for people.
[[nodiscard]] std::string dryRunText(const DryRunReport& report);

} // namespace strata::cli
