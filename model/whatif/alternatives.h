// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/scenario.h"

#include <vector>

namespace strata::model {

/// Single changes of a run that need nothing from anybody to be answered, each a scenario of its own: other
/// settings of the allocator (settingsWorthTrying()), half the batch and twice as much where its items and
/// steps are known. Batches come first. O(1).
[[nodiscard]] std::vector<Scenario> alternativesTo(const RecordedRun& run);

} // namespace strata::model
