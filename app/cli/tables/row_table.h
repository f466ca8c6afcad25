// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {

inline constexpr std::size_t kRowBuffer = 1 << 16; ///< of JSON lines, before they are handed to an Output

/// A table of millions of rows, printed as it comes: columns of fixed width (wider cells push the rest), one
/// text at the end that a terminal's width may shorten.
class RowTable {
public:
    struct Column {
        std::string_view title;
        std::size_t width;
        bool left = false; ///< texts; figures stand at the right
    };
    RowTable(Output& out, std::vector<Column> columns, std::string_view lastTitle);

    void row(std::initializer_list<std::string_view> cells, std::string_view last);

private:
    void addCell(std::string_view cell, const Column& column);

    Output& m_out;
    std::vector<Column> m_columns;
    std::string m_line;
};

/// The first `limit` of the rows.
[[nodiscard]] std::span<const std::uint32_t> firstRows(
    const std::vector<std::uint32_t>& rows, std::int64_t limit);

/// Says on `err` that rows were left out, and how to get them.
void sayLeftOut(Output& err, std::int64_t rows);

} // namespace strata::cli
