// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/live/terminal/picture.h"

#include <cstdint>
#include <string>

namespace strata::cli {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

/// Where a plot lies on a grid.
struct PlotPlace {
    int row = 0, column = 0;
    int rows = 0, columns = 0;
};

/// The value at the top of a plot that has to show `bytes`: one that reads well, "12 GiB".
[[nodiscard]] std::int64_t plotTop(std::int64_t bytes);
/// The time of a column: 1, 2 or 5 with noughts, at or above `ns`, so that what grows is drawn anew only now
/// and then.
[[nodiscard]] std::int64_t niceNs(std::int64_t ns);
/// Without decimals where there are none: "12 GiB", "1.5 GiB".
[[nodiscard]] std::string axisLabel(std::int64_t bytes);

/// Draws the columns, one a column of the grid, from the ground up:
///
///        ::        reserved went up and down within the column
///     ░░░░░░       reserved and not in use
///     ▒▒▒▒▒▒       lost to rounding: allocated, where it is known exactly
///     ▓▓           requested went up and down within the column
///     ██████       requested all the time
///
/// The top of requested is exact to an eighth of a row, and what is more than nothing is never drawn as
/// nothing. Without UTF-8 these are ':' '-' '=' '+' '#'.
void drawPlot(Grid& grid, const PlotPlace& place, const std::vector<PlotColumn>& columns, std::int64_t top,
    Charset charset);

} // namespace strata::cli
