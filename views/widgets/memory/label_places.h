// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

namespace strata::views {

/// A label that wants to stand centred at a height.
struct WantedLabel {
    double centre = 0;
    double height = 0;
    int priority = 0; ///< where there is no room for all, the highest numbers go first
};

inline constexpr double kNoPlace = -1e9;

/// Where the labels stand (their centres, in the order given) so that none overlaps another or leaves
/// [top, bottom]: as near as may be to where they want to be, in their order. kNoPlace for those that had to
/// go. O(n^2): for a handful.
[[nodiscard]] std::vector<double> placeLabels(
    const std::vector<WantedLabel>& labels, double top, double bottom, double gap);

/// Which of the labels [begin, end) of a row fit beside each other, first come first served in the order
/// given: for axis ticks and names on a strip.
[[nodiscard]] std::vector<bool> labelsThatFit(
    const std::vector<std::pair<double, double>>& extents, double left, double right, double gap);

} // namespace strata::views
