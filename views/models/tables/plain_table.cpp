// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/plain_table.h"

#include "views/models/tables/csv.h"

#include <utility>

namespace strata::views {

PlainTable::PlainTable(std::vector<Column> columns)
{
    for (Column& column : columns) {
        m_columns.push_back(std::move(column.shown));
        m_names.push_back(column.name);
    }
}

TableSource::Key PlainTable::sortKey(int column) const
{
    return [this, column](std::uint32_t row) -> std::optional<std::uint64_t> {
        const auto value = figure(row, column);
        // Below zero comes before.
        return value ? std::optional(static_cast<std::uint64_t>(*value) ^ (std::uint64_t{ 1 } << 63))
                     : std::nullopt;
    };
}

QString PlainTable::sortName(int column) const
{
    return QString::fromLatin1(m_names[static_cast<std::size_t>(column)]);
}

TableSource::Match PlainTable::matcher(
    const std::vector<model::BlockFilter>&, const std::optional<EventRange>&) const
{
    return {};
}

QString PlainTable::tooltip(std::uint32_t row, int column) const
{
    const TableCell shown = cell(row, column);
    return shown.note.isEmpty() ? shown.text : shown.text + QLatin1Char(' ') + shown.note;
}

std::string PlainTable::csvHeader() const
{
    std::string line;
    for (const char* name : m_names)
        line += (line.empty() ? "" : ",") + std::string(name);
    return line + "\n";
}

void PlainTable::appendCsv(std::string& to, std::uint32_t row) const
{
    for (int column = 0; column < static_cast<int>(m_columns.size()); ++column) {
        if (column > 0)
            to += ',';
        if (const auto value = figure(row, column))
            to += std::to_string(*value);
        else
            appendCsvField(to, text(row, column));
    }
    to += '\n';
}

} // namespace strata::views
