// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/grid.h"

#include "app/cli/text.h"
#include "model/base/utf8.h"

#include <algorithm>
#include <array>
#include <utility>

namespace strata::cli {

namespace {

struct Range {
    char32_t first, last;
};

/// Those that East Asian terminals, and all others, draw two columns wide.
constexpr std::array kWide{ Range{ 0x1100, 0x115f }, Range{ 0x2e80, 0x303e }, Range{ 0x3041, 0x33ff },
    Range{ 0x3400, 0x4dbf }, Range{ 0x4e00, 0x9fff }, Range{ 0xa000, 0xa4cf }, Range{ 0xac00, 0xd7a3 },
    Range{ 0xf900, 0xfaff }, Range{ 0xfe30, 0xfe6f }, Range{ 0xff00, 0xff60 }, Range{ 0xffe0, 0xffe6 },
    Range{ 0x1f300, 0x1f64f }, Range{ 0x1f900, 0x1f9ff }, Range{ 0x20000, 0x3fffd } };
/// Accents and marks that change what stands before them.
constexpr std::array kNoWidth{ Range{ 0x0300, 0x036f }, Range{ 0x200b, 0x200f }, Range{ 0x20d0, 0x20ff },
    Range{ 0xfe00, 0xfe0f }, Range{ 0xfeff, 0xfeff } };

template <class Ranges> bool isIn(const Ranges& ranges, char32_t character)
{
    return std::ranges::any_of(ranges,
        [character](const Range& range) { return character >= range.first && character <= range.last; });
}

/// Of one whole, valid character.
char32_t decoded(std::string_view character)
{
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    const auto rest = [&](std::size_t i) { return static_cast<char32_t>(byte(i) & 0x3f); };
    switch (character.size()) {
    case 1:
        return byte(0);
    case 2:
        return static_cast<char32_t>(byte(0) & 0x1f) << 6 | rest(1);
    case 3:
        return static_cast<char32_t>(byte(0) & 0x0f) << 12 | rest(1) << 6 | rest(2);
    default:
        return static_cast<char32_t>(byte(0) & 0x07) << 18 | rest(1) << 12 | rest(2) << 6 | rest(3);
    }
}

void appendUtf8(std::string& out, char32_t character)
{
    const auto put = [&](char32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
    if (character < 0x80) {
        put(character);
    } else if (character < 0x800) {
        put(0xc0 | character >> 6);
        put(0x80 | (character & 0x3f));
    } else if (character < 0x10000) {
        put(0xe0 | character >> 12);
        put(0x80 | (character >> 6 & 0x3f));
        put(0x80 | (character & 0x3f));
    } else {
        put(0xf0 | character >> 18);
        put(0x80 | (character >> 12 & 0x3f));
        put(0x80 | (character >> 6 & 0x3f));
        put(0x80 | (character & 0x3f));
    }
}

std::u32string charactersOf(std::string_view utf8)
{
    std::u32string out;
    const std::string clean = printable(utf8);
    model::forEachCharacter(
        clean, [&](std::string_view character) { out += decoded(character); }, [] {});
    return out;
}

} // namespace

int columnsOf(char32_t character)
{
    if (character < 0x300)
        return 1;
    return isIn(kNoWidth, character) ? 0 : isIn(kWide, character) ? 2 : 1;
}

int columnsOf(std::string_view utf8)
{
    int columns = 0;
    for (const char32_t character : charactersOf(utf8))
        columns += columnsOf(character);
    return columns;
}

std::string fitted(std::string_view text, int columns, Shorten where)
{
    if (columns <= 0)
        return {};
    std::u32string all = charactersOf(text);
    const std::u32string_view dots = U"...";
    std::string out;
    const auto append = [&](std::u32string_view part) {
        for (const char32_t character : part)
            appendUtf8(out, character);
    };
    if (columnsOf(text) <= columns) {
        append(all);
        return out;
    }
    if (columns <= std::ssize(dots)) {
        append(dots.substr(0, static_cast<std::size_t>(columns)));
        return out;
    }
    if (where == Shorten::Left)
        std::ranges::reverse(all);
    std::size_t kept = 0;
    for (int room = columns - static_cast<int>(dots.size());
         kept < all.size() && columnsOf(all[kept]) <= room; ++kept)
        room -= columnsOf(all[kept]);
    all.resize(kept);
    if (where == Shorten::Left) {
        std::ranges::reverse(all);
        append(dots);
        append(all);
    } else {
        append(all);
        append(dots);
    }
    return out;
}

Grid::Grid(GridSize size)
    : m_size{ std::max(size.rows, 0), std::max(size.columns, 0) }
    , m_cells(static_cast<std::size_t>(m_size.rows) * static_cast<std::size_t>(m_size.columns))
{
}

void Grid::put(int row, int column, char32_t character, Ink ink)
{
    if (row < 0 || row >= m_size.rows || column < 0 || column >= m_size.columns)
        return;
    m_cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(m_size.columns)
        + static_cast<std::size_t>(column)]
        = { character, ink };
}

int Grid::put(int row, int column, std::string_view utf8, Ink ink)
{
    for (const char32_t character : charactersOf(utf8)) {
        const int width = columnsOf(character);
        if (width == 0)
            continue;
        if (column + width > m_size.columns) { // half of a character is none
            put(row, column, U' ', ink);
            return m_size.columns;
        }
        put(row, column, character, ink);
        if (width == 2)
            put(row, column + 1, U'\0', ink);
        column += width;
    }
    return column;
}

void Grid::putRight(int row, int column, std::string_view utf8, Ink ink)
{
    put(row, column - columnsOf(utf8), utf8, ink);
}

void Grid::fill(int row, Ink ink)
{
    for (int column = 0; column < m_size.columns; ++column)
        put(row, column, U' ', ink);
}

std::string Grid::text() const
{
    std::string out;
    for (int row = 0; row < m_size.rows; ++row) {
        std::string line;
        for (int column = 0; column < m_size.columns; ++column)
            if (const char32_t character = at(row, column).character; character != U'\0')
                appendUtf8(line, character);
        line.erase(line.find_last_not_of(' ') + 1);
        out += line;
        out += '\n';
    }
    return out;
}

} // namespace strata::cli
