// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/options.h"
#include "app/cli/dryrun/run.h"

#include <optional>

namespace strata::cli {

/// What goes into the recording of a dry run: card, command and options, as one JSON object. `isBounded`:
/// work of the device lasts as long as the card takes at least.
[[nodiscard]] std::string aboutJson(
    const DryRunOptions& options, const std::string& card, std::uint64_t capacityBytes, bool isBounded);

/// What Python's side wrote of the exception that ended the program; of several processes that of the first.
[[nodiscard]] std::optional<ProgramFailure> readFailure(const std::filesystem::path& folder);

/// What became of --steps where the program did not end by it; empty where there is nothing to tell.
[[nodiscard]] std::string stepsNote(const DryRunOptions& options, const DryRun& run);

/// What became of the changes where no process could take them, or they met nothing; empty where one did.
[[nodiscard]] std::string changesNote(const DryRunOptions& options, const DryRun& changed);

/// Why the command may have ended as it did, and what to do; empty where nothing is known.
[[nodiscard]] std::string hintFor(const DryRun& run);

/// "3 optimizer steps", "1 step" where the program marks its own.
[[nodiscard]] std::string stepsText(std::int64_t steps, dryrun::StepSource source);

} // namespace strata::cli
