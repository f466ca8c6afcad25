// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/table_export.h"

#include "views/models/tables/csv.h"

namespace strata::views {

namespace {

bool flush(std::string& buffer, QIODevice& out)
{
    const bool written = writeText(out, buffer);
    buffer.clear();
    return written;
}

} // namespace

std::int64_t countRows(const RowRanges& ranges)
{
    std::int64_t count = 0;
    for (const auto& [first, last] : ranges)
        count += std::int64_t{ last } - first + 1;
    return count;
}

RowRanges allRows(const TableRows& rows)
{
    if (rows.size() == 0)
        return {};
    return { { 0, static_cast<int>(rows.size()) - 1 } };
}

bool writeCsv(const TableSource& source, const TableRows& rows, const RowRanges& ranges, QIODevice& out,
    const JobContext& context)
{
    constexpr std::size_t kBuffer = 1 << 20;
    const auto total = static_cast<double>(countRows(ranges));
    std::string buffer = source.csvHeader();
    std::int64_t done = 0;
    for (const auto& [first, last] : ranges) {
        for (int position = first; position <= last; ++position, ++done) {
            source.appendCsv(buffer, rows[static_cast<std::uint32_t>(position)]);
            if (buffer.size() < kBuffer)
                continue;
            if (context.cancelled() || !flush(buffer, out))
                return false;
            context.progress(static_cast<double>(done) / total);
        }
    }
    return flush(buffer, out) && !context.cancelled();
}

QString rowsAsText(const TableSource& source, const TableRows& rows, const RowRanges& ranges)
{
    QString text;
    const int columns = static_cast<int>(source.columns().size());
    for (const auto& [first, last] : ranges) {
        for (int position = first; position <= last; ++position) {
            for (int column = 0; column < columns; ++column) {
                const TableCell cell = source.cell(rows[static_cast<std::uint32_t>(position)], column);
                if (column > 0)
                    text += QLatin1Char('\t');
                text += cell.text;
                if (!cell.text.isEmpty() && !cell.note.isEmpty())
                    text += QLatin1Char(' ');
                text += cell.note;
            }
            text += QLatin1Char('\n');
        }
    }
    return text;
}

} // namespace strata::views
