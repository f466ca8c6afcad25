// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/options.h"
#include "app/cli/dryrun/run.h"

#include <optional>

namespace strata::cli {

/// What goes into the recording of a dry run: card, command and options, as one JSON object.
[[nodiscard]] std::string aboutJson(
    const DryRunOptions& options, const std::string& card, std::uint64_t capacityBytes);

/// What Python's side wrote of the exception that ended the program; of several processes that of the first.
[[nodiscard]] std::optional<ProgramFailure> readFailure(const std::filesystem::path& folder);

/// Why the command may have ended as it did, and what to do; empty where nothing is known.
[[nodiscard]] std::string hintFor(const DryRun& run);

} // namespace strata::cli
