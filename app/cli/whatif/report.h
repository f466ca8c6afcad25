// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/whatif/plan/whatif_report.h"

#include <cstdint>
#include <optional>
#include <string>

namespace strata::cli {

/// "batch=x2, expandable_segments:True", fit for a terminal; of more than three modules how many are
/// checkpointed; "nothing changed".
[[nodiscard]] std::string scenarioName(const model::Scenario& scenario);

/// Why one of several GPUs has no answer, where others may have one: a module, or a line, is of some of them.
[[nodiscard]] model::Error refusedOf(int device, const model::Error& error);

/// For people; the first sentence of each device is a verdict.
void printWhatIf(Output& out, const std::string& file, const model::WhatIfReport& answer,
    std::optional<std::int64_t> maxPeakBytes);

} // namespace strata::cli
