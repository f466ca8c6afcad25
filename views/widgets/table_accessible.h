// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace strata::views {

class TableView;

/// Makes tables speak to screen readers: a table by role, whose value is the current row, title and text of
/// every cell. Rows are not handed out one by one, there are millions. To be called before a table is shown;
/// any number of times.
void installTableAccessibility();

/// Tells screen readers that the current row is another one.
void announceCurrentRow(TableView& view);

} // namespace strata::views
