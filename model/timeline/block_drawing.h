// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/block_places.h"
#include "model/timeline/cell_grid.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace strata::model {

/// Draws one blocks picture: sorts the blocks of its window into rectangles and cells. One thread.
class BlockDrawing {
public:
    BlockDrawing(const DeviceTrace& trace, const Clock& clock, const StripLayout& strips,
        const BlockPlaces& places, const BlocksWindow& window, const BlockMatcher* filter);

    /// A block that comes in at the left edge.
    void addOlder(BlockId block);

    /// Rows first .. end - 1 of the blocks of the trace, born inside the window. False once the token is set.
    bool addBorn(std::size_t first, std::size_t end, const std::stop_token& stop);

    void addSegment(const SegmentLife& life);

    [[nodiscard]] BlocksPicture finish(const std::stop_token& stop);

private:
    /// At least a pixel wide and high: a rectangle, if there is room for it.
    struct Large {
        BlockId block;
        BlockPlace place;
        PixelBox box;

        [[nodiscard]] double area() const { return (box.x1 - box.x0) * (box.y1 - box.y0); }
    };

    template <class Rows, class Position>
    void addRun(std::size_t first, std::size_t count, const Rows& rowsOf, const Position& position);
    template <class Rows> void addRun(std::size_t first, std::size_t count, const Rows& rowsOf);
    void addBox(BlockId block, EventId birth, EventId death);
    [[nodiscard]] bool boxOf(EventId birth, EventId death, const BlockPlace& place, PixelBox& box) const;
    [[nodiscard]] RowSpan rowsOf(const BlockPlace& place) const;
    [[nodiscard]] double columnOf(EventIndex e) const;
    void addRects(const Large& large, BlocksPicture& picture) const;

    const DeviceTrace& m_trace;
    const BlockColumns& m_blocks;
    const Clock& m_clock;
    const StripLayout& m_strips;
    const BlockPlaces& m_places;
    BlocksWindow m_window;
    const BlockMatcher* m_filter;
    bool m_onEvents;
    double m_columnsPerUnit, m_rowsPerByte;
    CellGrid m_grid;
    std::vector<Large> m_large;
};

} // namespace strata::model
