// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::cli {

/// How a cell of a terminal looks: what it means, not which colour it has. Without colour these are told
/// apart by bold, dim and reverse.
enum class Ink : std::uint8_t {
    Plain,
    Strong,
    Faint,
    Bar, ///< the first and the last line
    Good,
    Bad, ///< what the user has to know
    Requested, ///< of the plot, likewise those that follow
    RequestedRange,
    Allocated,
    Reserved,
    Capacity,
};

struct Cell {
    char32_t character = U' '; ///< 0: the second half of a wide one
    Ink ink = Ink::Plain;
    friend bool operator==(const Cell&, const Cell&) = default;
};

struct GridSize {
    int rows = 0;
    int columns = 0;
    friend bool operator==(const GridSize&, const GridSize&) = default;
};

/// Columns that a character takes on a terminal: 0 where it is put upon the one before it, or is not shown.
[[nodiscard]] int columnsOf(char32_t character);
[[nodiscard]] int columnsOf(std::string_view utf8);

/// `text` in at most `columns` columns, "..." for what is left out at its end, or at its beginning.
enum class Shorten : std::uint8_t { Right, Left };
[[nodiscard]] std::string fitted(std::string_view text, int columns, Shorten where = Shorten::Right);

/// What a terminal shows, as cells. What lies outside is cut off: nothing that is put can be wrong. One
/// thread.
class Grid {
public:
    explicit Grid(GridSize size);

    [[nodiscard]] GridSize size() const { return m_size; }
    [[nodiscard]] const Cell& at(int row, int column) const
    {
        return m_cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_size.columns)
            + static_cast<std::size_t>(column)];
    }

    void put(int row, int column, char32_t character, Ink ink);
    /// From `column` on; control characters are '?'. The column behind it.
    int put(int row, int column, std::string_view utf8, Ink ink = Ink::Plain);
    /// So that it ends before `column`.
    void putRight(int row, int column, std::string_view utf8, Ink ink = Ink::Plain);
    void fill(int row, Ink ink); ///< the whole row, with blanks

    /// Rows as text, blanks at their ends left out: for tests, and who has no terminal.
    [[nodiscard]] std::string text() const;

private:
    GridSize m_size;
    std::vector<Cell> m_cells;
};

} // namespace strata::cli
