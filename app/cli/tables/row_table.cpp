// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/tables/row_table.h"

#include "app/cli/text.h"
#include "model/base/units.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

namespace {

constexpr std::size_t kNarrowestColumn = 16;

} // namespace

RowTable::RowTable(Output& out, std::vector<Column> columns, std::string_view lastTitle)
    : m_out(out)
    , m_columns(std::move(columns))
{
    for (const Column& column : m_columns)
        addCell(column.title, column);
    m_line += lastTitle;
    m_out.line(m_out.faint(m_line));
}

void RowTable::addCell(std::string_view cell, const Column& column)
{
    const std::size_t points = model::characters(cell);
    const std::size_t blanks = column.width > points ? column.width - points : 0;
    m_line.append(column.left ? 0 : blanks, ' ');
    m_line += cell;
    m_line.append((column.left ? blanks : 0) + 2, ' ');
}

void RowTable::row(std::initializer_list<std::string_view> cells, std::string_view last)
{
    m_line.clear();
    auto column = m_columns.begin();
    for (const std::string_view cell : cells) {
        addCell(cell, *column);
        ++column;
    }
    const auto terminal = static_cast<std::size_t>(m_out.width());
    m_line += terminal == 0
        ? last
        : model::shortenLeft(
            last, terminal > m_line.size() + kNarrowestColumn ? terminal - m_line.size() : kNarrowestColumn);
    m_out.line(m_line);
}

std::span<const std::uint32_t> firstRows(const std::vector<std::uint32_t>& rows, std::int64_t limit)
{
    return std::span(rows).first(static_cast<std::size_t>(std::min(std::ssize(rows), limit)));
}

void sayLeftOut(Output& err, std::int64_t rows)
{
    if (rows > 0)
        err.line(err.faint(fmt::format("... {} more rows: --limit 0 prints all", model::formatCount(rows))));
}

} // namespace strata::cli
