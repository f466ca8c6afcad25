// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lane_layout.h"

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr int kGap = 6; // between tracks
constexpr double kNearlyAll = 0.9; // of the time

/// How many of the outermost rows tell nothing apart.
std::size_t outerRows(const model::WorkTracks& tracks, const model::WorkTrack& track)
{
    const auto isOuter = [&](const model::WorkRow& row) {
        return row.size() == 1
            && static_cast<double>(row.ends.front() - row.begins.front())
            > kNearlyAll * static_cast<double>(tracks.lengthNs());
    };
    std::size_t outer = 0;
    while (outer < track.rows.size() && isOuter(track.rows[outer]))
        ++outer;
    return outer;
}

} // namespace

LaneLayout::LaneLayout(const model::WorkTracks& tracks, const std::set<std::size_t>& folded,
    const std::set<std::size_t>& whole, int rowHeight, const TrackOrder::Arranged& order)
    : m_pinned(order.pinned)
    , m_rowHeight(rowHeight)
{
    for (const std::size_t track : order.lanes) {
        if (m_tracks.size() == order.pinned)
            m_pinnedHeight = m_height;
        const std::size_t all = tracks.tracks()[track].rows.size();
        const bool isFolded = all > 1 && folded.contains(track);
        const std::size_t outer
            = isFolded || whole.contains(track) ? 0 : outerRows(tracks, tracks.tracks()[track]);
        const std::size_t first = outer >= kOuter ? outer - 1 : 0, end = isFolded ? 1 : all;
        m_tracks.push_back({ track, m_height, static_cast<int>(end - first) * rowHeight, isFolded, first });
        for (std::size_t row = first; row < end; ++row, m_height += rowHeight)
            m_rows.push_back({ track, row, m_height });
        m_height += kGap;
    }
    if (m_tracks.size() == order.pinned)
        m_pinnedHeight = m_height;
}

std::optional<std::size_t> LaneLayout::rowAt(int y) const
{
    const auto behind = std::ranges::upper_bound(m_rows, y, {}, &Row::top);
    if (behind == m_rows.begin() || y >= std::prev(behind)->top + m_rowHeight)
        return std::nullopt;
    return static_cast<std::size_t>(std::prev(behind) - m_rows.begin());
}

std::optional<std::size_t> LaneLayout::trackAt(int y) const
{
    const auto behind = std::ranges::upper_bound(m_tracks, y, {}, &Track::top);
    if (behind == m_tracks.begin() || y >= std::prev(behind)->top + std::prev(behind)->height)
        return std::nullopt;
    return std::prev(behind)->track;
}

std::optional<std::size_t> LaneLayout::rowOf(std::size_t track, std::size_t row) const
{
    const auto found = std::ranges::find_if(
        m_rows, [&](const Row& each) { return each.track == track && each.row == row; });
    return found == m_rows.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - m_rows.begin()));
}

bool LaneLayout::isPinned(std::size_t track) const
{
    const auto shown = std::ranges::find(m_tracks, track, &Track::track);
    return std::cmp_less(shown - m_tracks.begin(), m_pinned);
}

} // namespace strata::views
