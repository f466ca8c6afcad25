// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "app/cli/output.h"
#include "model/whatif/predict.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::cli {

/// What `strata whatif` says of one device.
struct WhatIfTold {
    int device = 0;
    const model::DeviceTrace* trace = nullptr; ///< of the first recording
    model::Prediction prediction;
};

/// The document of contracts: `refused` empty: it is not.
void writeWhatIf(JsonWriter& json, const std::vector<WhatIfTold>& devices, const model::Scenario& scenario,
    const std::string& refused);

/// For people; the first sentence is a verdict.
void printWhatIf(Output& out, const std::string& file, const WhatIfTold& told,
    const model::Scenario& scenario, std::optional<std::int64_t> maxPeakBytes);

} // namespace strata::cli
