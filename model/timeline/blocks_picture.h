// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/columns.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/strips.h"
#include "model/trace/filter/filter.h"
#include "model/trace/filter/grouping.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

namespace strata::model {

/// What the blocks picture shows in a window: x is time or event, y is compacted address space, upward.
///
/// Blocks at least a pixel wide and a pixel high come as rectangles, one by one. All others are summed up in
/// cells, one a pixel: the share of the cell's bytes times time that they hold, and the group that holds
/// most of it. So the cells lie under the rectangles, the two never show the same bytes twice, and together
/// they hold exactly the byte-time of the window (requested bytes; blocks older than the trace come in at the
/// left edge, live ones leave at the right). A painter writes the cells as pixels (no loop over
/// blocks), then fills the rectangles.
///
///      y ^   +-------------+        rect: >= 1 px both ways
///        |   |_____________|  ....  cells: short-lived blocks, a column and less
///        |   ----------------------  cells: thin blocks, less than a row
///        +--------------------------------> x
struct BlocksPicture {
    static constexpr std::uint32_t kNoGroup = std::numeric_limits<std::uint32_t>::max();

    struct Rect {
        BlockId block;
        std::int64_t y = 0; ///< bytes in compacted address space
        std::int64_t bytes = 0; ///< clipped to the block's strip, not to the window
        double x0 = 0, x1 = 0; ///< pixel columns, clipped to the window
        std::uint32_t group = 0;
        bool pendingFree = false; ///< the part of its life after free_requested: dotted
    };
    struct Cell {
        float used = 0; ///< 0..1: held by blocks that are no rectangles; above 1 only where blocks overlap
        float reserved = 0; ///< 0..1: covered by segments (blocks included)
        std::uint32_t group = kNoGroup; ///< that holds most of `used`; none where nothing is used
    };

    int columns = 0;
    int rows = 0;
    std::vector<Rect> rects; ///< in no particular order
    std::vector<Cell> cells; ///< row-major; row 0 is at BlocksWindow::yBegin, the lowest bytes
    bool complete = true; ///< false if there were more rectangles than allowed: the smallest are in the cells

    [[nodiscard]] const Cell& cell(int row, int column) const
    {
        return cells[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns)
            + static_cast<std::size_t>(column)];
    }
};

struct BlocksWindow {
    ColumnWindow x;
    double yBegin = 0, yEnd = 0; ///< in bytes of compacted address space
    int rows = 0; ///< pixel rows
    std::size_t maxRects = 20'000; ///< what QPainter can fill in a frame
};

/// Answers "which rectangles and cells" for any window. Built once per grouping, off the window's thread:
/// O(blocks). About 5 bytes a block. Keeps pointers to what it was built from, which must outlive it.
/// Immutable; safe from any thread.
class BlocksIndex {
public:
    BlocksIndex(const DeviceTimeline& timeline, const StripLayout& strips, const GroupTable& groups,
        std::stop_token stop = {});
    /// Of a trace that keeps the rows of the one of `earlier`, with the same strips and with the groups of
    /// `earlier` grown with it: for what the new blocks cost, and the first time one step for each of the
    /// places that blocks have. One thread at a time goes on from an index.
    BlocksIndex(const DeviceTimeline& timeline, const StripLayout& strips, const GroupTable& groups,
        const BlocksIndex& earlier, std::stop_token stop = {});
    ~BlocksIndex();
    BlocksIndex(const BlocksIndex&) = delete;
    BlocksIndex& operator=(const BlocksIndex&) = delete;

    /// Cost: some 20 ns a block that lives in the window, plus a few a cell; with a filter a little more.
    /// Returns an empty picture once the token is set.
    [[nodiscard]] BlocksPicture picture(
        const BlocksWindow& window, const BlockMatcher* filter, std::stop_token stop) const;

    /// The block under the cursor: of those live after event `e` the one that holds most of the bytes
    /// [yBegin, yEnd) of compacted address space (a pixel row); none if they are free. O(live blocks).
    [[nodiscard]] BlockId pick(
        EventIndex e, double yBegin, double yEnd, const BlockMatcher* filter = nullptr) const;

    [[nodiscard]] std::size_t bytesResident() const;

private:
    struct Data;
    std::unique_ptr<Data> m_data;
};

} // namespace strata::model
