// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/work.h"

#include <cstdint>
#include <vector>

namespace strata::model {

inline constexpr std::uint32_t kNoLauncher = UINT32_MAX;

/// For each row of Work::spans that is a device's work: the row of the operator that launched it itself, that
/// is the innermost around the call which did, or where that call is not known the one that the piece names.
/// kNoLauncher: none, not known, or no work of a device. O(n log n).
[[nodiscard]] std::vector<std::uint32_t> launchersOf(const Work& work);

} // namespace strata::model
