// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/digest/outline.h"

#include <span>
#include <vector>

namespace strata::model {

/// The devices whose digest says something else than their events: both are of one file. O(blocks).
[[nodiscard]] std::vector<int> wrongDigests(
    const SessionOutline& outline, std::span<const DeviceTrace> devices);

} // namespace strata::model
