// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"

#include <string>

namespace strata::cli {

/// A line of the user's code and what it held at the peak of requested bytes.
struct PeakGroup {
    std::string key;
    std::int64_t bytes = 0;
};

/// The groups at the peak of the device with the highest reserved peak, largest first; empty without a
/// snapshot.
[[nodiscard]] std::vector<PeakGroup> peakGroups(const DryRun& run);

/// The JSON document of `strata dryrun --json`, with a newline at its end.
[[nodiscard]] std::string dryRunJson(const DryRun& run, const std::vector<PeakGroup>& groups);
/// The same for people.
[[nodiscard]] std::string dryRunText(const DryRun& run, const std::vector<PeakGroup>& groups);

} // namespace strata::cli
