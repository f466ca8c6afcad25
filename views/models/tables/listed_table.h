// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/tables/row_columns.h"
#include "views/models/tables/table_source.h"
#include "views/style/texts.h"

#include <vector>

namespace strata::views {

/// A table whose columns the model names (model/tables/row_columns.h), by their orders of --sort.
template <class Order> class ListedTable : public TableSource {
public:
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] Order columnKind(int column) const { return m_kinds[static_cast<std::size_t>(column)]; }
    [[nodiscard]] QString sortName(int column) const override
    {
        return text::utf8(model::namesOf(columnKind(column)).sort);
    }

protected:
    /// See TableColumn. `of` stands behind the title.
    void addColumn(Order kind, const QString& sample, const QString& unit = {}, const QString& of = {})
    {
        const model::ColumnNames& names = model::namesOf(kind);
        m_kinds.push_back(kind);
        m_columns.push_back({ .title = text::said(names.title) + of,
            .description = text::said(names.tip),
            .sample = sample,
            .number = !names.text,
            .unit = unit,
            .flexible = kind == Order::Line });
    }

private:
    std::vector<TableColumn> m_columns;
    std::vector<Order> m_kinds;
};

} // namespace strata::views
