// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/table_source.h"
#include "views/style/palette.h"
#include "views/widgets/quick_text.h"

class QPainter;

namespace strata::views {

inline constexpr int kCellPadding = 8; ///< pixels at the left and the right of what a cell says

/// What stands in a cell, over a ground that is painted already. GUI thread only.
void paintCell(QPainter& painter, const QRect& rect, const TableColumn& column, const TableCell& cell,
    const QuickText& quick, const Palette& palette);

} // namespace strata::views
