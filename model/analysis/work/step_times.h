// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device_work.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// How a figure lies over steps, or over ranks. Quartiles by the nearest rank: each is one of the values.
struct Spread {
    std::int64_t least = 0, lower = 0, median = 0, upper = 0, most = 0;

    friend bool operator==(const Spread&, const Spread&) = default;
};
[[nodiscard]] Spread spreadOf(std::vector<std::int64_t> values); ///< of none: zeros. O(n log n)

/// What steps took, in nanoseconds. The first one compiles and warms up, and so do those behind it that take
/// more than kWarmupTimes of the median of the later half: they are apart.
struct StepTimes {
    std::int64_t warmups = 0; ///< steps, the first one among them
    std::int64_t warmupNs = 0; ///< of all of them together
    std::int64_t steady = 0; ///< steps behind them
    Spread steadyNs;
};
inline constexpr double kWarmupTimes = 1.5;

/// Of steps in their order; none: there are none.
[[nodiscard]] std::optional<StepTimes> stepTimesOf(std::span<const ProfilerStep> steps);

} // namespace strata::model
