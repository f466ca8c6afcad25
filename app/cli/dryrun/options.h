// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What `strata dryrun` is asked to do.
struct DryRunOptions {
    std::string device = "A100-80GB";
    std::optional<std::int64_t> capacityBytes;
    int devices = 1;
    std::optional<int> rank; ///< run as this rank of worldSize, alone on this machine
    int worldSize = 1;
    std::optional<std::string> allocatorSettings; ///< replaces the user's own; empty removes them
    int steps = 0; ///< 0: until the program ends
    bool skipInit = true;
    std::string addresses = "top-down"; ///< order of device addresses
    std::string output; ///< where the snapshot goes; empty: nowhere
    bool json = false;
    std::vector<std::string> command;
};

/// Reads the words behind `strata dryrun`. Error::Kind::Usage for anything that is none; `help` is set when
/// help is asked for, and nothing else is then.
[[nodiscard]] model::Result<DryRunOptions> parseDryRun(int argc, const char* const* argv, std::string& help);

} // namespace strata::cli
