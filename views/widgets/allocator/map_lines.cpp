// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/map_lines.h"

#include "views/style/type.h"

#include <algorithm>
#include <utility>

namespace strata::views {

MapLines::MapLines(
    std::shared_ptr<const MapPicture> picture, const MapSizes& sizes, double zoom, bool isNormalised)
    : m_picture(std::move(picture))
    , m_sizes(sizes)
    , m_zoom(zoom)
    , m_normalised(isNormalised)
{
    if (!m_picture)
        return;
    std::int64_t top = 0;
    m_firstLine.reserve(m_picture->rows.size());
    for (const MapSection& section : m_picture->sections) {
        m_sectionTop.push_back(static_cast<int>(std::min<std::int64_t>(top, kTallest)));
        std::int64_t lines = 0;
        for (std::uint32_t r = section.firstRow; r < section.firstRow + section.rowCount; ++r) {
            m_firstLine.push_back(lines);
            lines += (m_picture->rows[r].spanBytes + bytesOfLine(r) - 1) / bytesOfLine(r);
        }
        top += m_sizes.heading + lines * m_sizes.line;
    }
    m_sectionTop.push_back(static_cast<int>(std::min<std::int64_t>(top, kTallest)));
}

std::int64_t MapLines::lineBytes(std::uint32_t section) const
{
    const auto whole = static_cast<double>(m_picture->sections[section].lineBytes);
    return std::max<std::int64_t>(kLeastLine, static_cast<std::int64_t>(whole / m_zoom));
}

std::int64_t MapLines::bytesOfLine(std::uint32_t row) const
{
    return m_normalised ? std::max<std::int64_t>(m_picture->rows[row].spanBytes, 1)
                        : lineBytes(m_picture->rows[row].section);
}

int MapLines::height() const
{
    return m_sectionTop.empty() ? 0 : m_sectionTop.back() + kGrid;
}

int MapLines::lineTop(std::uint32_t row, std::int64_t line) const
{
    return static_cast<int>(m_sectionTop[m_picture->rows[row].section] + m_sizes.heading
        + (m_firstLine[row] + line) * m_sizes.line);
}

MapLines::Line MapLines::lineOf(std::uint32_t row, std::int64_t line, int width) const
{
    const int room = std::max(1, width - m_sizes.label - kGrid);
    const std::int64_t whole = bytesOfLine(row);
    Line made;
    made.row = row;
    made.begin = line * whole;
    made.end = std::min(made.begin + whole, m_picture->rows[row].spanBytes);
    made.perByte = room / static_cast<double>(whole);
    const int bar = qRound(static_cast<double>(made.end - made.begin) * made.perByte);
    made.bar = { m_sizes.label, lineTop(row, line) + 2, std::clamp(bar, 1, room), m_sizes.line - 4 };
    return made;
}

std::optional<MapLines::Line> MapLines::lineAt(int y, int width) const
{
    if (!m_picture || m_picture->rows.empty() || y < 0 || y >= m_sectionTop.back())
        return std::nullopt;
    const auto behind = std::ranges::upper_bound(m_sectionTop, y);
    const MapSection& section
        = m_picture->sections[static_cast<std::size_t>(behind - m_sectionTop.begin() - 1)];
    const int inside = y - *std::prev(behind) - m_sizes.heading;
    if (inside < 0 || section.rowCount == 0)
        return std::nullopt;
    const std::int64_t line = inside / m_sizes.line;
    const auto first = m_firstLine.begin() + section.firstRow;
    const auto next = std::upper_bound(first, first + section.rowCount, line);
    const auto row = static_cast<std::uint32_t>(std::prev(next) - m_firstLine.begin());
    return lineOf(row, line - m_firstLine[row], width);
}

std::optional<std::uint32_t> MapLines::sectionAt(int y) const
{
    if (!m_picture || m_picture->rows.empty() || y >= m_sectionTop.back())
        return std::nullopt;
    return static_cast<std::uint32_t>(std::ranges::upper_bound(m_sectionTop, y) - m_sectionTop.begin() - 1);
}

} // namespace strata::views
