// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"

namespace strata::model {

/// Whether changes can be asked for together, whatever was recorded: fails, with what to do, where nothing
/// tells what two of them come to. O(changes).
[[nodiscard]] Result<void> goTogether(const Scenario& scenario);

} // namespace strata::model
