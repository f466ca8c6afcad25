// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/json_writer.h"
#include "model/whatif/ask/scenario.h"

#include <optional>

namespace strata::cli {

/// Peaks as a member of a document; none: null.
void writePeaks(JsonWriter& json, const char* key, const std::optional<model::PeakFigures>& peaks);

} // namespace strata::cli
