// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/dryrun/run.h"

#include <span>
#include <string_view>

namespace strata::cli {

/// A number in the command, {NAME}, whose largest value is looked for.
struct FitVariable {
    std::string name;
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
};

/// One run.
struct FitTrial {
    std::vector<std::int64_t> values; ///< of the variables, in their order
    bool fits = false;
    std::int64_t requestedPeak = 0;
    std::int64_t reservedPeak = 0;
    std::int64_t firstRefused = 0; ///< 0 when it fits
};

struct FitResult {
    std::vector<FitVariable> variables;
    std::vector<FitTrial> trials; ///< as they were run, no values twice
    /// With one variable the largest value that fits, or nothing. With several, for each choice of the ones
    /// before the last (the lowest, its double, ... and the highest) the largest of the last.
    std::vector<FitTrial> best;
    std::int64_t capacityBytes = 0;
    std::string device;
};

/// Reads "BATCH=1..512"; it must occur as {BATCH} in the command.
[[nodiscard]] model::Result<FitVariable> parseFitVariable(
    std::string_view text, std::span<const std::string> command);

/// Runs the command with values until the largest that fits is known: doubles what is added, then halves the
/// gap, so that the value found and the one above it were both run. More is taken to need more. Fails when
/// the command fails for another reason than memory; where other values went through, not before it did so
/// twice.
[[nodiscard]] model::Result<FitResult> runFit(const DryRunOptions& options);

/// For people, and as one JSON document; with a newline at the end.
[[nodiscard]] std::string fitText(const FitResult& result);
[[nodiscard]] std::string fitJson(const FitResult& result);

} // namespace strata::cli
