// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lane_layout.h"

#include <algorithm>

namespace strata::views {

namespace {

constexpr int kGap = 6; // between tracks

} // namespace

LaneLayout::LaneLayout(const model::WorkTracks& tracks, const std::set<std::size_t>& folded, int rowHeight)
    : m_rowHeight(rowHeight)
{
    for (std::size_t track = 0; track < tracks.tracks().size(); ++track) {
        const std::size_t all = tracks.tracks()[track].rows.size();
        const bool isFolded = all > 1 && folded.contains(track);
        const std::size_t shown = isFolded ? 1 : all;
        m_tracks.push_back({ track, m_height, static_cast<int>(shown) * rowHeight, isFolded });
        for (std::size_t row = 0; row < shown; ++row, m_height += rowHeight)
            m_rows.push_back({ track, row, m_height });
        m_height += kGap;
    }
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

} // namespace strata::views
