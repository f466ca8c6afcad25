// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "model/trace/filter/filter.h"
#include "views/models/document/view_state.h"
#include "views/models/tables/table_rows.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace strata::views {

struct TableColumn {
    QString title;
    QString description; ///< tooltip of the header
    QString sample; ///< a wide value: decides the width of the column
    bool number = false; ///< right-aligned
    QString unit; ///< the widest note of a number: units stand below each other, right of the figures
    bool flexible = false; ///< takes the width that the others leave
};

/// What one cell shows: `text`, then `note` in grey (a unit, a remark), after a colour swatch if there is
/// one.
struct TableCell {
    static constexpr int kNoSwatch = -1;

    QString text;
    QString note;
    int swatch = kNoSwatch; ///< rank for Palette::group(), Palette::kHatched included
};

/// The rows of a table in their own order, without Qt's models: what stands in a cell, what it sorts by, what
/// a filter keeps, how it is written out. Immutable and safe from any thread; costs are O(1) a cell.
class TableSource {
public:
    using Key = std::function<std::optional<std::uint64_t>(std::uint32_t row)>;
    using Match = std::function<bool(std::uint32_t row)>;
    struct Span {
        std::uint32_t begin = 0;
        std::uint32_t end = 0; ///< one past the last
    };

    TableSource() = default;
    virtual ~TableSource() = default;
    TableSource(const TableSource&) = delete;
    TableSource& operator=(const TableSource&) = delete;

    [[nodiscard]] virtual const std::vector<TableColumn>& columns() const = 0;
    [[nodiscard]] virtual std::uint32_t rowCount() const = 0;
    /// The row here that is `row` of the same table of another generation of the session; none if it is not
    /// there. Ascending rows give ascending ones.
    [[nodiscard]] virtual std::optional<std::uint32_t> sameRow(
        const TableSource& other, std::uint32_t row) const;
    [[nodiscard]] virtual TableCell cell(std::uint32_t row, int column) const = 0;
    [[nodiscard]] virtual QString tooltip(std::uint32_t row, int column) const = 0;

    /// Orders by a column: ascending keys; rows without one come last. Prepared once a sort.
    [[nodiscard]] virtual Key sortKey(int column) const = 0;
    /// What --sort of the command line calls that order.
    [[nodiscard]] virtual QString sortName(int column) const = 0;
    /// Rows that all filters keep and that belong to the range; empty if that is every row. Prepared once a
    /// pass.
    [[nodiscard]] virtual Match matcher(
        const std::vector<model::BlockFilter>& filters, const std::optional<EventRange>& range) const = 0;
    /// Rows outside of it do not belong to the range: what a pass need not look at. O(1).
    [[nodiscard]] virtual Span rowsNear(const std::optional<EventRange>& range) const;
    virtual void add(TableSums& sums, std::uint32_t row) const = 0;

    [[nodiscard]] virtual std::string csvHeader() const = 0; ///< with its line end
    virtual void appendCsv(std::string& to, std::uint32_t row) const = 0;
    [[nodiscard]] virtual QString stackText(std::uint32_t row) const = 0; ///< a line a frame, innermost first
};

/// What a table is asked to show.
struct TableQuery {
    int sortColumn = 0;
    bool descending = false;
    std::vector<model::BlockFilter> filters; ///< joined by "and"
    std::optional<EventRange> range;
    friend bool operator==(const TableQuery&, const TableQuery&) = default;
};

/// Finds and orders the rows: one pass to filter, a radix sort to order. Ties keep the table's own order,
/// rows without a value come last either way. About 0.1 s a million rows to sort; the result is meaningless
/// once cancelled.
[[nodiscard]] TableRows arrange(
    const TableSource& source, const TableQuery& query, const JobContext& context);

} // namespace strata::views
