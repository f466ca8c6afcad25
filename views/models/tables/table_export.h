// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/table_source.h"

#include <utility>
#include <vector>

class QIODevice;

namespace strata::views {

/// Positions [first, last] of what a table shows, both included; ascending and apart.
using RowRanges = std::vector<std::pair<int, int>>;

[[nodiscard]] std::int64_t countRows(const RowRanges& ranges);
[[nodiscard]] RowRanges allRows(const TableRows& rows);

/// Writes rows as CSV with a header line, in the order shown, a megabyte at a time: memory does not grow with
/// the table. About 1 us a row. False if the device failed or the job was cancelled.
[[nodiscard]] bool writeCsv(const TableSource& source, const TableRows& rows, const RowRanges& ranges,
    QIODevice& out, const JobContext& context);

/// Rows as they look, columns separated by tabs, a line a row. For a few thousand rows.
[[nodiscard]] QString rowsAsText(const TableSource& source, const TableRows& rows, const RowRanges& ranges);

} // namespace strata::views
