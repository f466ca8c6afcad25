// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/live/terminal/picture.h"

#include "app/cli/live/terminal/plot.h"
#include "app/cli/text.h"
#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sstream>
#include <utility>

namespace strata::cli {

namespace {

constexpr int kAxisColumns = 10; ///< "12.5 GiB |"
constexpr int kNarrow = 50; ///< fewer columns have no axis, and short words
constexpr int kSideBySide = 110; ///< so many have lines and events beside each other
constexpr int kWithBlocks = 56; ///< columns of the table of lines that have room for counts of blocks
constexpr int kBytesColumns = 8; ///< "1.02 GiB": figures stand still while they change

std::string bytesCell(std::int64_t bytes)
{
    return fmt::format("{:>{}}", model::formatBytes(bytes), kBytesColumns);
}

/// "12:04", "1:02:03".
std::string clockText(std::int64_t ns)
{
    const std::int64_t seconds = std::max<std::int64_t>(ns, 0) / 1'000'000'000;
    return seconds < 3600 ? fmt::format("{}:{:02}", seconds / 60, seconds % 60)
                          : fmt::format("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

/// Which rows show what.
struct Rows {
    int figures = -1, legend = -1, banner = -1, bannerRows = 0;
    PlotPlace plot; ///< without rows: it is left out
    int axis = -1;
    int lines = -1, lineRows = 0; ///< the title, and how many below it
    int events = -1, eventRows = 0;
    int eventsColumn = 0, linesColumns = 0; ///< beside each other
    int foot = -1;
};

Rows placeRows(GridSize size, int bannerRows, const Picture& picture)
{
    Rows rows;
    int next = 1; // below the head
    int left = size.rows - 1;
    if (left > 0) {
        rows.foot = size.rows - 1;
        --left;
    }
    if (left > 0) {
        rows.legend = next;
        --left;
    }
    if (left > 4) {
        rows.figures = next++;
        --left;
        rows.legend = next;
    }
    ++next;
    rows.bannerRows = std::min(bannerRows, std::max(left / (picture.verdictIsBad ? 2 : 3), left > 0 ? 1 : 0));
    rows.banner = next;
    next += rows.bannerRows;
    left -= rows.bannerRows;

    const int axisColumns = size.columns - plotColumns(size.columns);
    const bool sideBySide = size.columns >= kSideBySide && !picture.isPolled;
    // The plot has what the tables leave, and they what it leaves.
    int plotRows = left < 3 ? 0 : std::max(2, left * 2 / 5);
    plotRows -= plotRows > 3 ? plotRows % 2 : 0; // half of its height is the edge of a row
    rows.plot = { next, axisColumns, plotRows, plotColumns(size.columns) };
    next += plotRows;
    left -= plotRows;
    if (plotRows > 0 && left > 2) {
        rows.axis = next++;
        --left;
    }
    rows.linesColumns = size.columns;
    if (left < 2)
        return rows;
    rows.lines = next;
    if (sideBySide) {
        rows.lineRows = rows.eventRows = left - 1;
        rows.events = next;
        rows.linesColumns = size.columns / 2 - 1;
        rows.eventsColumn = size.columns / 2 + 1;
        return rows;
    }
    const int eventRows = left < 8 || picture.isPolled ? 0 : (left - 2) * 2 / 5;
    rows.lineRows = left - 1 - (eventRows > 0 ? eventRows + 1 : 0);
    if (eventRows > 0) {
        rows.events = next + 1 + rows.lineRows;
        rows.eventRows = eventRows;
    }
    return rows;
}

class Drawing {
public:
    Drawing(const Picture& picture, GridSize size, Charset charset)
        : m_picture(picture)
        , m_size(size)
        , m_charset(charset)
        , m_grid(size)
    {
    }

    Grid draw()
    {
        if (m_size.rows <= 0 || m_size.columns <= 0)
            return std::move(m_grid);
        const std::vector<std::pair<std::string, Ink>> banner = bannerLines();
        m_rows = placeRows(m_size, static_cast<int>(banner.size()), m_picture);
        drawHead();
        if (m_rows.foot > 0)
            drawFoot();
        if (m_picture.help) {
            drawHelp();
            return std::move(m_grid);
        }
        if (m_rows.figures > 0)
            drawFigures();
        if (m_rows.legend > 0)
            drawLegend();
        for (int i = 0; i < m_rows.bannerRows; ++i)
            m_grid.put(m_rows.banner + i, 1,
                fitted(words(banner[static_cast<std::size_t>(i)].first), m_size.columns - 2),
                banner[static_cast<std::size_t>(i)].second);
        if (m_rows.plot.rows > 0)
            drawThePlot();
        if (m_rows.lines > 0)
            drawLines();
        if (m_rows.events > 0)
            drawEvents();
        return std::move(m_grid);
    }

private:
    [[nodiscard]] bool isUtf8() const { return m_charset == Charset::Utf8; }
    [[nodiscard]] bool isNarrow() const { return m_size.columns < kNarrow; }

    /// Names of files are what they are; a terminal that has ASCII alone gets '?' for the rest.
    [[nodiscard]] std::string words(const std::string& text) const
    {
        if (isUtf8())
            return text;
        std::string out;
        model::forEachCharacter(
            text, [&](std::string_view character) { out += character.size() > 1 ? "?" : character; },
            [&] { out += '?'; });
        return out;
    }
    [[nodiscard]] const char* atLeast() const { return isUtf8() ? "≥" : ">="; }

    std::vector<std::pair<std::string, Ink>> bannerLines() const
    {
        std::vector<std::pair<std::string, Ink>> lines;
        if (!m_picture.verdict.empty()) {
            std::istringstream wrapped(
                wrap(m_picture.verdict, static_cast<std::size_t>(std::max(m_size.columns - 2, 1))));
            for (std::string line; std::getline(wrapped, line);)
                lines.emplace_back(line, m_picture.verdictIsBad ? Ink::Bad : Ink::Strong);
        }
        for (const std::string& warning : m_picture.warnings)
            lines.emplace_back((m_charset == Charset::Utf8 ? "⚠ " : "! ") + warning, Ink::Bad);
        return lines;
    }

    /// Parts that have room, the first ones first, with two blanks between them.
    void putParts(int row, int column, int end, const std::vector<std::pair<std::string, Ink>>& parts)
    {
        bool isFirst = true;
        for (const auto& [text, ink] : parts) {
            if (text.empty())
                continue;
            const int gap = isFirst ? 0 : 2;
            if (column + gap + columnsOf(text) > end) {
                if (isFirst)
                    m_grid.put(row, column, fitted(text, end - column), ink);
                return;
            }
            column = m_grid.put(row, column + gap, text, ink);
            isFirst = false;
        }
    }

    void drawHead()
    {
        m_grid.fill(0, Ink::Bar);
        int end = m_size.columns - 1;
        if (const int room = m_size.columns - columnsOf(m_picture.state) - 1; room > 12) {
            m_grid.putRight(0, end, m_picture.state, m_picture.stateIsGood ? Ink::Bar : Ink::Bad);
            end -= columnsOf(m_picture.state) + 2;
        }
        std::vector<std::pair<std::string, Ink>> parts{ { words(m_picture.name), Ink::Bar } };
        if (m_picture.process)
            parts.emplace_back(fmt::format("pid {}", *m_picture.process), Ink::Bar);
        if (m_picture.rank)
            parts.emplace_back(m_picture.worldSize
                    ? fmt::format("rank {} of {}", *m_picture.rank, *m_picture.worldSize)
                    : fmt::format("rank {}", *m_picture.rank),
                Ink::Bar);
        // Its number, where its model has no room.
        int used = 1;
        for (const auto& [text, ink] : parts)
            used += columnsOf(text) + 2;
        const std::string device = words(m_picture.device);
        parts.emplace_back(
            used + columnsOf(device) <= end ? device : device.substr(0, device.find(':')), Ink::Bar);
        putParts(0, 1, end, parts);
    }

    void drawFigures()
    {
        int end = m_size.columns - 1;
        if (!m_picture.mode.empty()) {
            m_grid.putRight(m_rows.figures, end, m_picture.mode, Ink::Strong);
            end -= columnsOf(m_picture.mode) + 2;
        }
        std::vector<std::pair<std::string, Ink>> parts;
        if (m_picture.elapsedNs)
            parts.emplace_back(clockText(*m_picture.elapsedNs), Ink::Plain);
        if (m_picture.eventsPerSecond)
            parts.emplace_back(
                fmt::format("{:>7} events/s", model::formatCount(*m_picture.eventsPerSecond)), Ink::Plain);
        if (m_picture.events)
            parts.emplace_back(
                fmt::format("{:>9} events", model::formatCount(*m_picture.events)), Ink::Faint);
        if (m_picture.driverBytes)
            parts.emplace_back("driver " + bytesCell(*m_picture.driverBytes), Ink::Faint);
        putParts(m_rows.figures, 1, end, parts);
    }

    /// What the shades of the plot mean, with the figures of the instant.
    void drawLegend()
    {
        const auto part
            = [&](const char* utf8, const char* ascii, const char* name, const std::string& figure) {
                  return fmt::format("{} {}{}", isUtf8() ? utf8 : ascii,
                      isNarrow() ? std::string() : fmt::format("{} ", name), figure);
              };
        std::vector<std::pair<std::string, Ink>> parts;
        if (m_picture.isPolled) {
            if (m_picture.reservedBytes)
                parts.emplace_back(
                    part("░", "-", "in use, as the driver says", bytesCell(*m_picture.reservedBytes)),
                    Ink::Reserved);
        } else {
            if (m_picture.requestedBytes)
                parts.emplace_back(
                    part("█", "#", "requested", bytesCell(*m_picture.requestedBytes)), Ink::Requested);
            if (m_picture.allocated)
                parts.emplace_back(part("▒", "=", "allocated",
                                       (m_picture.allocated->isExact ? "" : atLeast())
                                           + bytesCell(m_picture.allocated->bytes)),
                    Ink::Allocated);
            if (m_picture.reservedBytes)
                parts.emplace_back(
                    part("░", "-", "reserved", bytesCell(*m_picture.reservedBytes)), Ink::Reserved);
        }
        if (m_picture.capacityBytes)
            parts.emplace_back("of " + model::formatBytes(*m_picture.capacityBytes), Ink::Faint);
        putParts(m_rows.legend, 1, m_size.columns, parts);
    }

    void drawThePlot()
    {
        const PlotPlace& place = m_rows.plot;
        std::int64_t highest = 0;
        for (const PlotColumn& column : m_picture.columns)
            for (const auto& span : { column.requested, column.allocated, column.reserved })
                highest = std::max(highest, span ? span->max : 0);
        const std::int64_t top = plotTop(highest);
        if (place.column > 0) {
            for (int row = 0; row < place.rows; ++row) {
                // Labels where the value at the upper edge of a row is the whole or the half.
                const bool isTop = row == 0, isMiddle = place.rows >= 4 && row * 2 == place.rows;
                m_grid.put(place.row + row, place.column - 1, isUtf8() ? U'│' : U'|', Ink::Faint);
                if (isTop || isMiddle)
                    m_grid.putRight(
                        place.row + row, place.column - 2, axisLabel(isTop ? top : top / 2), Ink::Faint);
            }
        }
        drawPlot(m_grid, place, m_picture.columns, top, m_charset);
        for (std::size_t i = 0; i < m_picture.columns.size(); ++i)
            if (m_picture.columns[i].hasOom && static_cast<int>(i) < place.columns)
                m_grid.put(place.row, place.column + static_cast<int>(i), U'!', Ink::Bad);
        if (place.column == 0)
            m_grid.put(place.row, 0, axisLabel(top), Ink::Faint);
        if (m_rows.axis > 0)
            drawAxis();
    }

    void drawAxis()
    {
        const PlotPlace& place = m_rows.plot;
        const int row = m_rows.axis, end = place.column + place.columns;
        for (int column = place.column; column < end; ++column)
            m_grid.put(row, column, isUtf8() ? U'─' : U'-', Ink::Faint);
        if (place.column > 0) {
            m_grid.putRight(row, place.column - 2, "0 B", Ink::Faint);
            m_grid.put(row, place.column - 1, isUtf8() ? U'└' : U'+', Ink::Faint);
        }
        // Where a mark stands no words do.
        const auto label = [&](int at, const std::string& text) {
            const auto isWithin = [&](const std::optional<int>& mark) {
                return mark && place.column + *mark >= at && place.column + *mark < at + columnsOf(text) + 2;
            };
            if (!text.empty() && !isWithin(m_picture.peak) && !isWithin(m_picture.instant))
                m_grid.put(row, at, " " + text + " ", Ink::Faint);
        };
        const int width = columnsOf(m_picture.begin) + columnsOf(m_picture.end) + 4;
        if (place.columns > width) {
            label(place.column, m_picture.begin);
            label(end - columnsOf(m_picture.end) - 2, m_picture.end);
            if (place.columns > 2 * width + columnsOf(m_picture.middle))
                label(place.column + (place.columns - columnsOf(m_picture.middle) - 2) / 2, m_picture.middle);
        }
        const auto mark = [&](const std::optional<int>& at, char32_t utf8, char32_t ascii) {
            if (at && *at >= 0 && *at < place.columns)
                m_grid.put(row, place.column + *at, isUtf8() ? utf8 : ascii, Ink::Strong);
        };
        mark(m_picture.peak, U'△', U'P');
        mark(m_picture.instant, U'▲', U'^');
    }

    void drawLines()
    {
        const int end = m_rows.linesColumns;
        m_grid.put(m_rows.lines, 1, fitted(words(m_picture.linesTitle), end - 1), Ink::Strong);
        for (int i = 0; i < m_rows.lineRows; ++i) {
            const auto index = static_cast<std::size_t>(i + m_picture.firstLine);
            if (index >= m_picture.lines.size())
                break;
            const Picture::Line& line = m_picture.lines[index];
            const int row = m_rows.lines + 1 + i;
            int column = m_grid.put(row, 1, bytesCell(line.bytes));
            column = m_grid.put(row, column + 1,
                fmt::format("{:>7}", model::formatShare(line.bytes, m_picture.linesBytes)), Ink::Faint);
            if (end >= kWithBlocks && !m_picture.isPolled)
                column = m_grid.put(
                    row, column + 1, fmt::format("{:>9}", model::formatCount(line.blocks)), Ink::Faint);
            m_grid.put(row, column + 2, fitted(words(line.label), end - column - 3, Shorten::Left));
        }
    }

    void drawEvents()
    {
        const int begin = m_rows.eventsColumn;
        m_grid.put(m_rows.events, begin + 1, "Last events", Ink::Strong);
        for (int i = 0; i < m_rows.eventRows && i < std::ssize(m_picture.latest); ++i) {
            const Picture::Event& event = m_picture.latest[static_cast<std::size_t>(i)];
            const int row = m_rows.events + 1 + i;
            const Ink ink = event.isBad ? Ink::Bad : Ink::Plain;
            int column = m_grid.put(row, begin + 1, fmt::format("{:>10}", event.time), Ink::Faint);
            column = m_grid.put(row, column + 2, fmt::format("{:<14}", fitted(event.action, 14)), ink);
            column = m_grid.put(row, column + 1, bytesCell(event.bytes), ink);
            m_grid.put(row, column + 2,
                fitted(words(event.label), m_size.columns - column - 3, Shorten::Left),
                event.isBad ? Ink::Bad : Ink::Plain);
        }
    }

    void drawFoot()
    {
        m_grid.fill(m_rows.foot, Ink::Bar);
        if (!m_picture.message.empty()) {
            m_grid.put(m_rows.foot, 1, fitted(words(m_picture.message), m_size.columns - 2), Ink::Bar);
            return;
        }
        const std::string back = isUtf8() ? "←→ back" : "<> back";
        std::vector<std::string> keys{ "q quit", "h help", "space pause", back, "p peak", "+- zoom", "s save",
            "d GPU", "1-4 group" };
        if (m_picture.isPolled)
            keys = { "q quit", "h help", "a all", "d GPU" };
        std::vector<std::pair<std::string, Ink>> parts;
        for (std::string& key : keys)
            parts.emplace_back(std::move(key), Ink::Bar);
        putParts(m_rows.foot, 1, m_size.columns, parts);
    }

    void drawHelp()
    {
        const std::string arrows = isUtf8() ? "← →" : "left right", lists = isUtf8() ? "↑ ↓" : "up down";
        using Keys = std::vector<std::pair<std::string, std::string>>;
        const Keys polled{
            { "q", "quits; the process goes on" },
            { "a", "all of the time, or the last minute" },
            { "d", "the next device" },
            { lists, "scrolls the processes" },
            { "", "" },
            { isUtf8() ? "░" : "-", "in use by the process, as the driver says" },
        };
        const Keys full{
            { "q", "quits; the process goes on" },
            { "space", "pauses the picture and lets it go on" },
            { arrows, "a tenth of the picture back in time, and forward" },
            { "PgUp PgDn", "a whole picture back, and forward" },
            { "Home End", "the beginning; now" },
            { "p", "the peak of requested so far, and back" },
            { "o", "the last out-of-memory" },
            { "+ -", "less time, more time; a: all of it" },
            { lists, "scrolls the lines" },
            { "1 2 3 4", "by line of code, size, pool, stream" },
            { "d", "the next device" },
            { "s", "saves what was received so far as a session" },
            { "", "" },
            { isUtf8() ? "█" : "#", "requested: what the program asked for" },
            { isUtf8() ? "▓" : "+", "requested, but not all the time that the column stands for" },
            { isUtf8() ? "▒" : "=", "allocated: what rounding adds, where it is known exactly" },
            { isUtf8() ? "░" : "-", "reserved by PyTorch and not in use" },
            { ":", "reserved, but not all the time that the column stands for" },
            { isUtf8() ? "△" : "P", "the peak of requested" },
        };
        int row = 1;
        const int last = m_size.rows - 2;
        for (const auto& [key, meaning] : m_picture.isPolled ? polled : full) {
            if (row > last)
                return;
            m_grid.put(row, 1, key, Ink::Strong);
            m_grid.put(row++, 13, fitted(meaning, m_size.columns - 14));
        }
    }

    const Picture& m_picture;
    const GridSize m_size;
    const Charset m_charset;
    Grid m_grid;
    Rows m_rows;
};

} // namespace

int plotColumns(int columns)
{
    return columns < kNarrow ? std::max(columns, 0) : columns - kAxisColumns - 1;
}

int mostRows(GridSize size)
{
    return std::max(size.rows, 0);
}

Grid draw(const Picture& picture, GridSize size, Charset charset)
{
    return Drawing(picture, size, charset).draw();
}

} // namespace strata::cli
