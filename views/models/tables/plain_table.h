// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/table_source.h"

namespace strata::views {

/// A table of which each cell is a figure or a text, without filters and sums: what a page says in numbers
/// below its picture. Who derives from it says what stands in a cell; columns sort by their figures.
class PlainTable : public TableSource {
public:
    [[nodiscard]] const std::vector<TableColumn>& columns() const override { return m_columns; }
    [[nodiscard]] Key sortKey(int column) const override;
    [[nodiscard]] QString sortName(int column) const override;
    [[nodiscard]] Match matcher(const std::vector<model::BlockFilter>& filters,
        const std::optional<EventRange>& range) const override;
    void add(TableSums&, std::uint32_t) const override { }
    [[nodiscard]] QString tooltip(std::uint32_t row, int column) const override;
    [[nodiscard]] QString stackText(std::uint32_t) const override { return {}; }
    [[nodiscard]] std::string csvHeader() const override;
    void appendCsv(std::string& to, std::uint32_t row) const override;

    struct Column {
        TableColumn shown;
        const char* name; ///< in CSV, and of --json
    };

protected:
    explicit PlainTable(std::vector<Column> columns);
    [[nodiscard]] const char* keyOf(int column) const { return m_names[static_cast<std::size_t>(column)]; }

    /// What the column sorts by and CSV holds; none: it has a text.
    [[nodiscard]] virtual std::optional<std::int64_t> figure(std::uint32_t row, int column) const = 0;
    /// Of a cell without a figure, in CSV.
    [[nodiscard]] virtual std::string text(std::uint32_t row, int column) const = 0;

private:
    std::vector<TableColumn> m_columns;
    std::vector<const char*> m_names;
};

} // namespace strata::views
