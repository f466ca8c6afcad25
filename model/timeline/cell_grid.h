// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/blocks_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace strata::model {

/// A rectangle on the pixel grid of a picture: columns x0..x1 and rows y0..y1 with their fractions, inside
/// it.
struct PixelBox {
    double x0 = 0, x1 = 0, y0 = 0, y1 = 0;
};

/// The rows that a box covers, and by how much the first and the last of them.
struct RowSpan {
    std::int32_t first = 0;
    std::int32_t last = -1; ///< below `first` if it covers none
    float low = 0; ///< share of the first row, or of the only one
    float high = 0; ///< share of the last row, if it is another
    std::uint32_t group = 0;

    /// Of y0..y1 within 0..rows.
    [[nodiscard]] static RowSpan of(double y0, double y1, int rows, std::uint32_t group)
    {
        if (!(y0 < y1))
            return {};
        const int first = std::min(static_cast<int>(y0), rows - 1);
        const int end = std::min(static_cast<int>(std::ceil(y1)), rows);
        const int last = std::max(first, end - 1);
        const double edge = last == first ? y1 : first + 1;
        return { first, last, static_cast<float>(edge - y0), static_cast<float>(y1 - last), group };
    }
};

/// Adds up what falls into the pixel cells of a blocks picture. Each kind of box is summed along its short
/// side, so that it costs a few steps and not its area:
///
///     narrow  less than a column wide, any height: into two columns that move along with time
///     flat    less than a row high, at least a column wide: kept until its row is summed
///     area    any: four changes of height, carried from row to row
///
/// The group of a cell is found by weighted voting (Boyer and Moore): the group that holds more than half
/// wins, if there is one, else some large one. Votes are limited, so that millions of boxes of full height
/// take no longer than others; where they run out, a cell takes its neighbour's group. One thread.
class CellGrid {
public:
    CellGrid(int columns, int rows);

    /// Must come by ascending column of x0; what comes late counts in the current column.
    void addNarrow(double x0, double x1, const RowSpan& rows);
    void addFlat(const PixelBox& box, std::uint32_t group);
    void addArea(const PixelBox& box, std::uint32_t group);
    void addReserved(const PixelBox& box);

    /// Sums up and empties the grid. Once the token is set it returns early, with less.
    [[nodiscard]] std::vector<BlocksPicture::Cell> finish(const std::stop_token& stop);

private:
    /// A row of a strand. Sixteen bytes: one cache line serves four rows.
    struct Fibre {
        float used = 0;
        float weight = 0; // by which the group leads
        float change = 0; // of `used` from row to row; in the place of votes once they run out
        std::uint32_t group = BlocksPicture::kNoGroup;

        void add(float share, std::uint32_t by)
        {
            used += share;
            const float sum = weight + (group == by ? share : -share);
            group = sum < 0 ? by : group;
            weight = std::fabs(sum);
        }
    };
    /// One pixel column while narrow boxes fall into it.
    struct Strand {
        int column = 0;
        int lowest = 0, end = 0; // rows touched
        std::int64_t votes = 0;
        std::vector<Fibre> rows; // and one more
    };
    struct Flat {
        double x0, x1;
        float height;
        std::uint32_t row, group;
    };
    struct Change {
        double x0, x1, height;
        std::uint32_t row;
    };
    struct RowSums;

    void moveTo(int column);
    void fall(Strand& strand, float width, const RowSpan& rows);
    void fallBetween(Strand& strand, float width, const RowSpan& rows);
    void flush(Strand& strand);
    void addChanges(std::vector<Change>& changes, const PixelBox& box);
    void sumRow(int row, RowSums& sums);

    int m_columns, m_rows;
    // Until its row is summed, a cell's `reserved` holds the weight by which its group leads.
    std::vector<BlocksPicture::Cell> m_cells;
    std::array<Strand, 2> m_strands; // for a column and the next
    std::vector<Flat> m_flats;
    std::vector<Change> m_areas, m_reserved;
    std::int64_t m_areaVotes = 0;
};

inline void CellGrid::fall(Strand& strand, float width, const RowSpan& rows)
{
    strand.lowest = std::min(strand.lowest, rows.first);
    strand.end = std::max(strand.end, rows.last + 1);
    Fibre* const fibres = strand.rows.data();
    fibres[rows.first].add(width * rows.low, rows.group);
    if (rows.last == rows.first)
        return;
    fibres[rows.last].add(width * rows.high, rows.group);
    if (rows.last > rows.first + 1)
        fallBetween(strand, width, rows);
}

inline void CellGrid::addNarrow(double x0, double x1, const RowSpan& rows)
{
    const int column = static_cast<int>(x0);
    if (column > m_strands[0].column)
        moveTo(std::min(column, m_columns - 1));
    const double end = m_strands[0].column + 1;
    if (x1 <= end) {
        fall(m_strands[0], static_cast<float>(x1 - x0), rows);
        return;
    }
    if (x0 < end)
        fall(m_strands[0], static_cast<float>(end - x0), rows);
    if (m_strands[1].column < m_columns)
        fall(m_strands[1], static_cast<float>(x1 - std::max(end, x0)), rows);
}

} // namespace strata::model
