// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/dryrun/dry_run_fit.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {

/// One run.
struct FitTrial {
    std::vector<std::int64_t> values; ///< of the variables, in their order
    bool fits = false; ///< for certain: with all that the CUDA context may take
    std::int64_t requestedPeak = 0;
    std::int64_t reservedPeak = 0;
    std::int64_t firstRefused = 0; ///< 0: none was
    bool isTight = false; ///< none was, but the CUDA context may need the rest
};

/// What a search came to.
struct FitOutcome {
    std::vector<FitTrial> trials; ///< as they were run, no values twice
    /// With one variable the largest value that fits, or nothing. With several, for each choice of the ones
    /// before the last (the lowest, its double, ... and the highest) the largest of the last.
    std::vector<FitTrial> best;
};

/// Runs the command with these values. Error::Kind::NotFound where it failed for another reason than memory.
using TryFit = std::function<model::Result<FitTrial>(const std::vector<std::int64_t>& values)>;

/// Tries values until the largest that fits is known: doubles what is added, then halves the gap, so that the
/// value found and the one above it were both tried. More is taken to need more. `failedOnce` hears of a
/// trial that is made again: where other values went through, one failure may be the machine's and does not
/// undo the search; a second does, and so does any other error. `variables` has one at least.
[[nodiscard]] model::Result<FitOutcome> searchFit(std::span<const model::FitVariable> variables,
    const TryFit& tryFit, const std::function<void(const model::Error&)>& failedOnce);

/// Reads "BATCH=1..512"; it must occur as {BATCH} in the command.
[[nodiscard]] model::Result<model::FitVariable> parseFitVariable(
    std::string_view text, std::span<const std::string> command);

/// What stands for the variable in a command: "{BATCH}".
[[nodiscard]] std::string placeholder(const model::FitVariable& variable);

} // namespace strata::cli
