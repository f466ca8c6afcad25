// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/timeline/lanes_geometry.h"

namespace strata::views {

// How the arrow keys walk through pieces of work, which are rows of Work::spans. The data is not nullptr.
// GUI thread.

/// The row of the layout in which a piece is shown; none: its track is folded.
[[nodiscard]] std::optional<std::size_t> shownRowOf(const LanesGeometry& places, std::uint32_t piece);
/// Where an arrow key leads: along the row of `current`, or to the nearest above or below it at its middle.
/// Where that is not shown, the first piece in view of the first row. There is a row at least.
[[nodiscard]] std::optional<std::uint32_t> pieceBeside(
    const LanesGeometry& places, std::optional<std::uint32_t> current, int key);
/// The piece that is nearest to an instant, in the lowest row that has any.
[[nodiscard]] std::optional<std::uint32_t> lowestPieceAt(const LanesGeometry& places, std::int64_t ns);

} // namespace strata::views
