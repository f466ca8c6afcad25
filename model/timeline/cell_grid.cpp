// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/cell_grid.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace strata::model {

namespace {

using Cell = BlocksPicture::Cell;

constexpr std::int64_t kVotesPerStrandCell = 24;
constexpr std::int64_t kVotesPerFlatCell = 24;
constexpr std::int64_t kAreaVotes = std::int64_t{ 1 } << 24;
constexpr float kNothing = 1e-12F; // what sums of doubles leave over where nothing is

void vote(std::uint32_t& leader, float& weight, std::uint32_t group, float votes)
{
    const float sum = weight + (leader == group ? votes : -votes);
    leader = sum < 0 ? group : leader;
    weight = std::fabs(sum);
}

/// The same for a run of cells: without a branch, so that compilers vectorise it.
void voteRun(std::uint32_t* __restrict leaders, float* __restrict weights, std::size_t count,
    std::uint32_t group, float votes)
{
    for (std::size_t i = 0; i < count; ++i) {
        const float sum = weights[i] + (leaders[i] == group ? votes : -votes);
        leaders[i] = sum < 0 ? group : leaders[i];
        weights[i] = std::fabs(sum);
    }
}

/// Changes from column to column of something `height` high between x0 and x1:
///
///     x0 .__________. x1      level:  0 | part | height | height | part | 0
///     |  |   |   |  |  |      column:     c0                       c1
void addLevel(std::vector<double>& changes, double x0, double x1, double height)
{
    const double c0 = std::floor(x0);
    const double c1 = std::floor(x1);
    double* const first = &changes[static_cast<std::size_t>(c0)];
    double* const last = &changes[static_cast<std::size_t>(c1)];
    first[0] += (c0 + 1 - x0) * height;
    first[1] += (x0 - c0) * height;
    last[0] -= (c1 + 1 - x1) * height;
    last[1] -= (x1 - c1) * height;
}

void sumUp(const std::vector<double>& changes, std::vector<float>& levels)
{
    double level = 0;
    for (std::size_t c = 0; c < levels.size(); ++c) {
        level += changes[c];
        levels[c] = static_cast<float>(std::max(level, 0.0));
    }
}

/// Items by row, stable; `starts` says where each row begins.
template <class T>
std::vector<T> byRow(const std::vector<T>& items, int rows, std::vector<std::size_t>& starts)
{
    starts.assign(static_cast<std::size_t>(rows) + 2, 0);
    for (const T& item : items)
        ++starts[item.row + 2];
    for (std::size_t i = 2; i < starts.size(); ++i)
        starts[i] += starts[i - 1];
    std::vector<T> sorted(items.size());
    for (const T& item : items)
        sorted[starts[item.row + 1]++] = item;
    return sorted;
}

} // namespace

/// What is kept along the rows while they are summed from the lowest up. Changes go from column to column.
struct CellGrid::RowSums {
    explicit RowSums(const CellGrid& grid)
        : flats(byRow(grid.m_flats, grid.m_rows, flatStarts))
        , areas(byRow(grid.m_areas, grid.m_rows, areaStarts))
        , reserved(byRow(grid.m_reserved, grid.m_rows, reservedStarts))
        , changes(static_cast<std::size_t>(grid.m_columns) + 2)
        , areaChanges(changes.size())
        , reservedChanges(changes.size())
        , used(static_cast<std::size_t>(grid.m_columns))
        , reservedShare(used.size())
        , weight(used.size())
        , group(used.size())
    {
    }

    std::vector<std::size_t> flatStarts, areaStarts, reservedStarts;
    std::vector<Flat> flats;
    std::vector<Change> areas, reserved;
    std::vector<double> changes, areaChanges, reservedChanges;
    std::vector<float> used, reservedShare; // by column; the latter as of the row below until it changes
    std::vector<float> weight;
    std::vector<std::uint32_t> group;
    std::uint32_t lastGroup = BlocksPicture::kNoGroup; // for cells that no vote has reached
};

CellGrid::CellGrid(int columns, int rows)
    : m_columns(columns)
    , m_rows(rows)
    , m_cells(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows))
{
    for (Strand& strand : m_strands) {
        strand.lowest = rows;
        strand.rows.resize(static_cast<std::size_t>(rows) + 1);
    }
    m_strands[1].column = 1;
}

void CellGrid::moveTo(int column)
{
    flush(m_strands[0]);
    if (column == m_strands[1].column) {
        std::swap(m_strands[0], m_strands[1]);
    } else {
        flush(m_strands[1]);
        m_strands[0].column = column;
    }
    m_strands[1].column = column + 1;
}

/// The rows between the first and the last, which are covered from edge to edge.
void CellGrid::fallBetween(Strand& strand, float width, const RowSpan& rows)
{
    Fibre* const fibres = strand.rows.data();
    if (strand.votes >= kVotesPerStrandCell * m_rows) {
        fibres[rows.first + 1].change += width;
        fibres[rows.last].change -= width;
        return;
    }
    strand.votes += rows.last - rows.first;
    for (std::int32_t row = rows.first + 1; row < rows.last; ++row)
        fibres[row].add(width, rows.group);
}

void CellGrid::flush(Strand& strand)
{
    float more = 0;
    std::uint32_t below = BlocksPicture::kNoGroup;
    const auto columns = static_cast<std::size_t>(m_columns);
    for (int row = strand.lowest; row < strand.end; ++row) {
        const auto r = static_cast<std::size_t>(row);
        Fibre& fibre = strand.rows[r];
        more += fibre.change;
        if (const float used = fibre.used + std::max(more, 0.0F); used > 0) {
            Cell& cell = m_cells[r * columns + static_cast<std::size_t>(strand.column)];
            if (fibre.group != BlocksPicture::kNoGroup)
                below = fibre.group;
            // Of what did not vote for the leader, half at most is the leader's too.
            vote(cell.group, cell.reserved, below, (used + fibre.weight) / 2);
            cell.used += used;
        }
        fibre = {};
    }
    strand.lowest = m_rows;
    strand.end = 0;
    strand.votes = 0;
}

void CellGrid::addFlat(const PixelBox& box, std::uint32_t group)
{
    const int first = std::min(static_cast<int>(box.y0), m_rows - 1);
    const double edge = std::min<double>(first + 1, box.y1);
    m_flats.push_back(
        { box.x0, box.x1, static_cast<float>(edge - box.y0), static_cast<std::uint32_t>(first), group });
    if (box.y1 > edge && first + 1 < m_rows)
        m_flats.push_back({ box.x0, box.x1, static_cast<float>(box.y1 - edge),
            static_cast<std::uint32_t>(first) + 1, group });
}

void CellGrid::addChanges(std::vector<Change>& changes, const PixelBox& box)
{
    const auto add = [&](double row, double height) {
        if (row < m_rows && height != 0)
            changes.push_back({ box.x0, box.x1, height, static_cast<std::uint32_t>(row) });
    };
    const double first = std::floor(box.y0);
    const double last = std::floor(box.y1);
    add(first, first + 1 - box.y0);
    add(first + 1, box.y0 - first);
    add(last, box.y1 - last - 1);
    add(last + 1, last - box.y1);
}

void CellGrid::addReserved(const PixelBox& box)
{
    addChanges(m_reserved, box);
}

void CellGrid::addArea(const PixelBox& box, std::uint32_t group)
{
    addChanges(m_areas, box);
    const auto columns = static_cast<std::size_t>(m_columns);
    const auto c0 = static_cast<std::size_t>(box.x0);
    const auto c1 = std::min(static_cast<std::size_t>(std::ceil(box.x1)), columns);
    for (double row = std::floor(box.y0); row < box.y1 && row < m_rows && m_areaVotes < kAreaVotes; ++row) {
        const double height = std::min(box.y1, row + 1) - std::max(box.y0, row);
        Cell* const cells = &m_cells[static_cast<std::size_t>(row) * columns];
        for (std::size_t c = c0; c < c1; ++c)
            vote(cells[c].group, cells[c].reserved, group, static_cast<float>(height));
        m_areaVotes += static_cast<std::int64_t>(c1 - c0);
    }
}

void CellGrid::sumRow(int row, RowSums& sums)
{
    const auto r = static_cast<std::size_t>(row);
    const auto columns = static_cast<std::size_t>(m_columns);
    Cell* const cells = &m_cells[r * columns];

    if (sums.reservedStarts[r] < sums.reservedStarts[r + 1]) {
        for (std::size_t i = sums.reservedStarts[r]; i < sums.reservedStarts[r + 1]; ++i)
            addLevel(sums.reservedChanges, sums.reserved[i].x0, sums.reserved[i].x1, sums.reserved[i].height);
        sumUp(sums.reservedChanges, sums.reservedShare);
    }
    const auto flats
        = std::span(sums.flats).subspan(sums.flatStarts[r], sums.flatStarts[r + 1] - sums.flatStarts[r]);
    if (flats.empty() && m_areas.empty()) {
        for (std::size_t c = 0; c < columns; ++c)
            cells[c].reserved = std::min(sums.reservedShare[c], 1.0F);
        return;
    }

    for (std::size_t c = 0; c < columns; ++c) {
        sums.group[c] = cells[c].group;
        sums.weight[c] = cells[c].reserved;
    }
    // Areas are carried on from the row below, flat boxes are of this row alone.
    std::copy(sums.areaChanges.begin(), sums.areaChanges.end(), sums.changes.begin());
    for (std::size_t i = sums.areaStarts[r]; i < sums.areaStarts[r + 1]; ++i) {
        const Change& change = sums.areas[i];
        addLevel(sums.areaChanges, change.x0, change.x1, change.height);
        addLevel(sums.changes, change.x0, change.x1, change.height);
    }
    std::int64_t votes = kVotesPerFlatCell * m_columns;
    if (static_cast<std::int64_t>(flats.size()) > kVotesPerFlatCell) // the highest vote first
        std::sort(
            flats.begin(), flats.end(), [](const Flat& a, const Flat& b) { return a.height > b.height; });
    for (const Flat& flat : flats) {
        addLevel(sums.changes, flat.x0, flat.x1, flat.height);
        const auto c0 = static_cast<std::size_t>(flat.x0);
        const auto c1 = std::min(static_cast<std::size_t>(std::ceil(flat.x1)), columns);
        if (votes > 0)
            voteRun(&sums.group[c0], &sums.weight[c0], c1 - c0, flat.group, flat.height);
        votes -= static_cast<std::int64_t>(c1 - c0);
    }
    sumUp(sums.changes, sums.used);

    std::uint32_t last = sums.lastGroup;
    for (std::size_t c = 0; c < columns; ++c) {
        Cell& cell = cells[c];
        cell.used += sums.used[c];
        cell.reserved = std::min(sums.reservedShare[c], 1.0F);
        last = sums.group[c] == BlocksPicture::kNoGroup ? last : sums.group[c];
        cell.group = cell.used > kNothing ? last : BlocksPicture::kNoGroup;
    }
    sums.lastGroup = last;
}

std::vector<BlocksPicture::Cell> CellGrid::finish(const std::stop_token& stop)
{
    for (Strand& strand : m_strands)
        flush(strand);
    RowSums sums(*this);
    for (int row = 0; row < m_rows && !stop.stop_requested(); ++row)
        sumRow(row, sums);
    return std::move(m_cells);
}

} // namespace strata::model
