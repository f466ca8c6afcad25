// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace strata::model {

/// The nearest whole number, of figures of a file that may be crafted: what is beyond all of them is the
/// last.
[[nodiscard]] inline std::int64_t nearestWhole(double value)
{
    constexpr double kMost = 9e18;
    return std::llround(std::clamp(value, -kMost, kMost));
}

} // namespace strata::model
