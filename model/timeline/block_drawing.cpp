// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/block_drawing.h"

#include <type_traits>

namespace strata::model {

BlockDrawing::BlockDrawing(const DeviceTrace& trace, const Clock& clock, const StripLayout& strips,
    const BlockPlaces& places, const BlocksWindow& window, const BlockMatcher* filter)
    : m_trace(trace)
    , m_blocks(trace.blocks())
    , m_clock(clock)
    , m_strips(strips)
    , m_places(places)
    , m_window(window)
    , m_filter(filter)
    , m_onEvents(window.x.axis == Axis::Events || !clock.hasTimes())
    , m_columnsPerUnit(window.x.columns / (window.x.end - window.x.begin))
    , m_rowsPerByte(window.rows / (window.yEnd - window.yBegin))
    , m_grid(window.x.columns, window.rows)
{
}

double BlockDrawing::columnOf(EventIndex e) const
{
    const double position = m_onEvents ? static_cast<double>(e) : axisPosition(Axis::Time, m_clock, e);
    return (position - m_window.x.begin) * m_columnsPerUnit;
}

/// The rows of the window that a place covers; none of them (`last` below `first`) if it lies outside.
RowSpan BlockDrawing::rowsOf(const BlockPlace& place) const
{
    const double y0 = (static_cast<double>(place.y) - m_window.yBegin) * m_rowsPerByte;
    const double y1 = y0 + static_cast<double>(std::max<std::int64_t>(place.bytes, 0)) * m_rowsPerByte;
    return RowSpan::of(std::max(y0, 0.0), std::min<double>(y1, m_window.rows), m_window.rows, place.group);
}

/// The part of it that lies in the window; false if none does.
bool BlockDrawing::boxOf(EventId birth, EventId death, const BlockPlace& place, PixelBox& box) const
{
    const double y0 = (static_cast<double>(place.y) - m_window.yBegin) * m_rowsPerByte;
    const double y1 = y0 + static_cast<double>(std::max<std::int64_t>(place.bytes, 0)) * m_rowsPerByte;
    box.y0 = std::max(y0, 0.0);
    box.y1 = std::min<double>(y1, m_window.rows);
    box.x0 = birth.valid() ? std::max(columnOf(birth.value), 0.0) : 0.0;
    box.x1 = m_window.x.columns;
    if (death.valid())
        box.x1 = std::min(columnOf(death.value), box.x1);
    return box.x0 < box.x1 && box.y0 < box.y1;
}

void BlockDrawing::addOlder(BlockId block)
{
    if (!m_filter || (*m_filter)(block))
        addBox(block, m_blocks.allocOf(block), m_blocks.freeCompleted[block]);
}

void BlockDrawing::addBox(BlockId block, EventId birth, EventId death)
{
    const BlockPlace place = m_places[block];
    PixelBox box;
    if (!boxOf(birth, death, place, box))
        return;
    if (box.x1 - box.x0 < 1)
        m_grid.addNarrow(box.x0, box.x1, RowSpan::of(box.y0, box.y1, m_window.rows, place.group));
    else if (box.y1 - box.y0 < 1)
        m_grid.addFlat(box, place.group);
    else
        m_large.push_back({ block, place, box });
}

/// What addOlder() does, many times. The commonest block by far, less than a column wide and inside the
/// window, goes straight to its cells.
template <class Rows, class Position>
void BlockDrawing::addRun(std::size_t first, std::size_t count, const Rows& rowsOf, const Position& position)
{
    const EventId* const births = m_blocks.alloc.run(first).data();
    const EventId* const deaths = m_blocks.freeCompleted.born.run(first).data();
    const double begin = m_window.x.begin;
    const double columns = m_window.x.columns;
    for (std::size_t i = 0; i < count; ++i) {
        const RowSpan& rows = rowsOf(first + i);
        if (rows.last < rows.first)
            continue;
        const BlockId block = BlockId::born(first + i);
        if (m_filter && !(*m_filter)(block))
            continue;
        if (deaths[i].valid()) {
            const double x0 = (position(births[i].value) - begin) * m_columnsPerUnit;
            const double x1 = (position(deaths[i].value) - begin) * m_columnsPerUnit;
            if (x0 >= 0 && x1 <= columns && x1 - x0 < 1) {
                m_grid.addNarrow(x0, x1, rows);
                continue;
            }
        }
        addBox(block, births[i], deaths[i]);
    }
}

template <class Rows> void BlockDrawing::addRun(std::size_t first, std::size_t count, const Rows& rowsOf)
{
    if (m_onEvents) {
        addRun(first, count, rowsOf, [](std::uint32_t e) { return static_cast<double>(e); });
    } else if (m_clock.isMonotone()) {
        const Column<std::int64_t>& times = m_trace.events().timeNs;
        const auto start = static_cast<std::uint64_t>(m_clock.startNs());
        addRun(first, count, rowsOf, [&times, start](std::uint32_t e) {
            return static_cast<double>(static_cast<std::uint64_t>(times[e]) - start);
        });
    } else {
        addRun(
            first, count, rowsOf, [this](std::uint32_t e) { return axisPosition(Axis::Time, m_clock, e); });
    }
}

bool BlockDrawing::addBorn(std::size_t first, std::size_t end, const std::stop_token& stop)
{
    std::vector<RowSpan> rowsOfPlaces;
    rowsOfPlaces.reserve(m_places.places().size());
    for (const BlockPlace& place : m_places.places())
        rowsOfPlaces.push_back(rowsOf(place));

    const auto add = [&](const auto& table) {
        while (first < end && !stop.stop_requested()) {
            const auto part = table.run(first);
            const std::size_t count = std::min(part.size(), end - first); // less than a chunk of the blocks
            if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(table[0])>>)
                addRun(first, count,
                    [&](std::size_t row) -> const RowSpan& { return rowsOfPlaces[part[row - first]]; });
            else
                addRun(first, count, [&](std::size_t row) { return rowsOf(m_places.at(table, row)); });
            first += count;
        }
    };
    std::visit(add, m_places.table());
    return first >= end;
}

void BlockDrawing::addSegment(const SegmentLife& life)
{
    const int strip = m_strips.stripOf(life.address);
    PixelBox box;
    if (strip >= 0
        && boxOf(life.alloc, life.free,
            placeIn(m_strips.strips()[static_cast<std::size_t>(strip)], life.address, life.bytes, 0), box))
        m_grid.addReserved(box);
}

void BlockDrawing::addRects(const Large& large, BlocksPicture& picture) const
{
    const PixelBox& box = large.box;
    BlocksPicture::Rect rect{ large.block, large.place.y, large.place.bytes, box.x0, box.x1,
        large.place.group };
    if (const EventIndex since = m_blocks.pendingSince(large.block); since != BlockColumns::kNever) {
        constexpr double kVisible = 0.5; // of a column
        const double pending = std::clamp(columnOf(since), box.x0, box.x1);
        if (pending - box.x0 < kVisible) {
            rect.pendingFree = true;
        } else if (box.x1 - pending >= kVisible) {
            rect.x1 = pending;
            picture.rects.push_back(rect);
            rect.x0 = pending;
            rect.x1 = box.x1;
            rect.pendingFree = true;
        }
    }
    picture.rects.push_back(rect);
}

BlocksPicture BlockDrawing::finish(const std::stop_token& stop)
{
    BlocksPicture picture;
    picture.columns = m_window.x.columns;
    picture.rows = m_window.rows;
    if (m_large.size() > m_window.maxRects) {
        picture.complete = false;
        const auto small = m_large.begin() + static_cast<std::ptrdiff_t>(m_window.maxRects);
        std::nth_element(m_large.begin(), small, m_large.end(),
            [](const Large& a, const Large& b) { return a.area() > b.area(); });
        for (auto large = small; large != m_large.end(); ++large)
            m_grid.addArea(large->box, large->place.group);
        m_large.erase(small, m_large.end());
    }
    for (const Large& large : m_large)
        addRects(large, picture);
    picture.cells = m_grid.finish(stop);
    return picture;
}

} // namespace strata::model
