// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/work.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// Operators, annotations and calls of the runtime as they lie within each other: rows of Work::spans by lane
/// and start, those around others first. O(n log n); O(n) of lanes that stand so in the file.
[[nodiscard]] std::vector<std::uint32_t> nestedCallsOf(const Work& work);

inline constexpr std::uint32_t kNoLauncher = UINT32_MAX;

/// For each row of Work::spans that is a device's work: the row of the operator that launched it itself, that
/// is the innermost around the call which did, or where that call is not known the one that the piece names.
/// kNoLauncher: none, not known, or no work of a device. `nested`: nestedCallsOf(work). O(n).
[[nodiscard]] std::vector<std::uint32_t> launchersOf(const Work& work, std::span<const std::uint32_t> nested);

} // namespace strata::model
