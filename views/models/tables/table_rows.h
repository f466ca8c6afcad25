// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/background_job.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::views {

/// What the footer of a table adds up over the rows it shows, in bytes: of the blocks table the requested
/// sizes, of the events table what was allocated and what was freed.
struct TableSums {
    std::int64_t first = 0;
    std::int64_t second = 0;
    friend bool operator==(const TableSums&, const TableSums&) = default;
};

/// Which rows of a table are shown and in what order: 4 bytes a row, none at all for the whole table in its
/// own order. Immutable; share it by shared_ptr between the model and jobs.
class TableRows {
public:
    TableRows() = default;
    [[nodiscard]] static TableRows all(std::uint32_t count, TableSums sums);
    /// `ordered`: the rows are ascending, which makes look-ups logarithmic.
    [[nodiscard]] static TableRows of(std::vector<std::uint32_t> rows, bool ordered, TableSums sums);

    [[nodiscard]] std::uint32_t size() const { return m_count; }
    [[nodiscard]] std::uint32_t operator[](std::uint32_t position) const
    {
        return m_rows.empty() ? position : m_rows[position];
    }
    [[nodiscard]] const TableSums& sums() const { return m_sums; }
    [[nodiscard]] bool isOrdered() const { return m_ordered; } ///< in the order of the table
    [[nodiscard]] bool isWholeTable() const { return m_rows.empty() && m_count > 0; }

    /// The position that shows `row`, if any. O(1) for the whole table, O(log n) in the table's own order,
    /// else one pass (3 ms for 6.3 million rows).
    [[nodiscard]] std::optional<std::uint32_t> positionOf(std::uint32_t row) const;
    /// The same; where the row is left out but the order is the table's own, the last one before it.
    [[nodiscard]] std::optional<std::uint32_t> nearest(std::uint32_t row) const;

private:
    std::vector<std::uint32_t> m_rows;
    std::uint32_t m_count = 0;
    bool m_ordered = true;
    TableSums m_sums;
};

/// Sorts `rows` by `keys` (one key a row, same order) with a stable radix sort: linear, only over the key
/// bytes that differ. Rows with equal keys keep their order. Takes 12 bytes a row more while it runs. Leaves
/// both half sorted when cancelled.
void sortByKey(std::vector<std::uint64_t>& keys, std::vector<std::uint32_t>& rows, const JobContext& context);

} // namespace strata::views
