// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/table_model.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace strata::views {

class TableView;

/// What somebody made of a table, while it takes the rows of a newer generation: the current row and cell and
/// the selected rows are the same ones, and what was in view stays where it is. Where the current row is in
/// view it keeps its place there, else the first row in view does; at its top the table stays at its top.
class KeptRows {
public:
    /// As it is before the model changes.
    KeptRows(const TableModel& model, const TableView& view);
    /// `model` shows rows of a newer generation now. O(rows selected x log rows), in another order than the
    /// table's own one pass over all rows.
    void restore(const TableModel& model, TableView& view) const;

private:
    using Ranges = std::vector<std::pair<int, int>>; // of positions, both included
    [[nodiscard]] std::optional<int> positionIn(const TableModel& model, int position) const;
    void mapRange(const TableModel& model, int first, int last, Ranges& to) const;
    [[nodiscard]] Ranges selectedIn(const TableModel& model) const;

    std::shared_ptr<const TableSource> m_source;
    std::shared_ptr<const TableRows> m_rows;
    std::optional<int> m_current; // positions
    int m_column = 0;
    Ranges m_selected;
    int m_first = 0, m_visible = 1; // in view
};

} // namespace strata::views
