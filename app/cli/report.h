// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/cli/output.h"
#include "model/base/sentence.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {

/// A table whose columns are as wide as what they hold: figures to the right, texts to the left, the last
/// text shortened from the left where a terminal is too narrow for it. For tables that fit in memory.
class Table {
public:
    enum class Align : std::uint8_t { Left, Right };
    struct Column {
        std::string title;
        Align align = Align::Right;
    };

    explicit Table(std::vector<Column> columns);

    void add(std::vector<std::string> cells); ///< one a column, fit for a terminal
    [[nodiscard]] bool empty() const { return m_rows.empty(); }
    /// A line of titles, if any column has one, and the rows.
    void print(Output& out, std::size_t indent = 2) const;

private:
    std::vector<Column> m_columns;
    std::vector<std::size_t> m_widths;
    std::vector<std::vector<std::string>> m_rows;
};

/// "1.20 GiB", "300 MiB more".
[[nodiscard]] std::string savedText(std::int64_t bytes);

/// `cell` filled up with blanks to `width` code points.
[[nodiscard]] std::string padded(std::string_view cell, std::size_t width, Table::Align align);

/// Prints text as a paragraph as wide as the terminal, at most 100 columns.
void printParagraph(Output& out, std::string_view text);
/// The same of sentences, with what is strong in them.
void printSentences(Output& out, const std::vector<model::Sentence>& sentences);

} // namespace strata::cli
