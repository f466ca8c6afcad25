// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/work_tracks.h"
#include "views/models/document/track_order.h"

#include <cstddef>
#include <optional>
#include <set>
#include <vector>

namespace strata::views {

/// Where the rows of tracks stand below each other, in points from the top of all of them; those that are
/// pinned first. A value.
class LaneLayout {
public:
    struct Row {
        std::size_t track = 0, row = 0; ///< of WorkTracks
        int top = 0;
    };
    struct Track {
        std::size_t track = 0;
        int top = 0, height = 0;
        bool isFolded = false; ///< its outermost row alone is shown
        std::size_t left = 0; ///< outermost rows that are left out: kOuter
    };

    /// Rows of one piece that is there nearly all the time, as the outermost functions of Python are: from so
    /// many on, only the innermost of them is shown.
    static constexpr std::size_t kOuter = 3;

    LaneLayout() = default;
    /// `folded`: tracks of which only the outermost row is shown; `whole`: all of whose rows are. `order`: of
    /// all tracks.
    LaneLayout(const model::WorkTracks& tracks, const std::set<std::size_t>& folded,
        const std::set<std::size_t>& whole, int rowHeight, const TrackOrder::Arranged& order);

    [[nodiscard]] const std::vector<Row>& rows() const { return m_rows; } ///< from the top
    [[nodiscard]] const std::vector<Track>& tracks() const { return m_tracks; }
    [[nodiscard]] int height() const { return m_height; }
    [[nodiscard]] std::size_t pinnedTracks() const { return m_pinned; } ///< the first of tracks()
    [[nodiscard]] bool isPinned(std::size_t track) const; ///< of WorkTracks
    [[nodiscard]] int pinnedHeight() const { return m_pinnedHeight; } ///< of them
    [[nodiscard]] int rowHeight() const { return m_rowHeight; }
    [[nodiscard]] std::optional<std::size_t> rowAt(int y) const; ///< place in rows()
    [[nodiscard]] std::optional<std::size_t> trackAt(int y) const; ///< of WorkTracks
    [[nodiscard]] std::optional<std::size_t> rowOf(
        std::size_t track, std::size_t row) const; ///< shown at all

private:
    std::vector<Row> m_rows;
    std::vector<Track> m_tracks;
    std::size_t m_pinned = 0;
    int m_rowHeight = 1, m_height = 0, m_pinnedHeight = 0;
};

} // namespace strata::views
