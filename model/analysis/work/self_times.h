// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/work.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// For each of `nested`, which are rows of operators, annotations and calls in the order of nestedCallsOf(),
/// how long its thread is in it and in none that began after it, in nanoseconds. Of rows that lie within each
/// other, as they do in a sound trace, that is the row less what it calls. Of rows that overlap in part the
/// later one has what they share. So none is below 0, and those of a thread add up to the union of its rows.
///
///     earlier |=========|            |===|
///     later         |=========|  ->       |=========|
///
/// O(n).
[[nodiscard]] std::vector<std::int64_t> selfTimesOf(const Work& work, std::span<const std::uint32_t> nested);

} // namespace strata::model
