// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/plan/whatif_report.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// What `strata whatif --confirm --json` says of one device: keys of WhatIfDevice.
struct ConfirmedDevice {
    std::optional<PeakFigures> predicted; ///< none: a range only
    std::optional<ConfirmedPeaks> confirmed; ///< none: nothing confirms the answer
    std::optional<PeakFigures> unchanged;
    std::optional<std::string> by; ///< "program" or "calls"
    std::optional<std::string> note; ///< why the answer is doubtful, or is not confirmed
    bool runsOutOfMemory = false;
};

struct ConfirmedAnswer {
    std::optional<std::string> refused; ///< why no device has an answer
    std::vector<ConfirmedDevice> devices;
};

/// Fails with Format where the text is not such an answer.
[[nodiscard]] Result<ConfirmedAnswer> readConfirmed(std::string_view json);

} // namespace strata::model
