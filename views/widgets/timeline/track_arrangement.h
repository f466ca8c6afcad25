// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/track_order.h"
#include "views/widgets/timeline/lane_layout.h"
#include "views/widgets/timeline/lanes_data.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

namespace strata::views {

/// How the user arranges tracks: their order, which are pinned, and which of their rows are shown. A value;
/// tracks are places in WorkTracks::tracks() of the data.
class TrackArrangement {
public:
    TrackArrangement() = default;
    /// Threads that launch nothing are folded at first. `data` nullptr: there are no tracks.
    TrackArrangement(const LanesData* data, TrackOrder order);

    void goOn(const LanesData& before, const LanesData& data); ///< more of the same recording
    [[nodiscard]] LaneLayout layOut(const LanesData& data, int rowHeight) const;

    [[nodiscard]] const TrackOrder& order() const { return m_order; }
    void setOrder(TrackOrder order) { m_order = std::move(order); }
    /// The order with a change; see TrackOrder.
    [[nodiscard]] TrackOrder withPinned(std::size_t track, bool isPinned) const
    {
        return m_order.withPinned(m_keys, track, isPinned);
    }
    [[nodiscard]] TrackOrder moved(std::size_t track, std::size_t place) const
    {
        return m_order.moved(m_keys, track, place);
    }
    [[nodiscard]] TrackOrder::Arranged arranged(const TrackOrder& order) const
    {
        return order.arrange(m_keys);
    }

    [[nodiscard]] bool isFolded(std::size_t track) const { return m_folded.contains(track); }
    bool setFolded(std::size_t track, bool folded); ///< whether that is a change
    void showWhole(std::size_t track); ///< all of its rows
    /// From rows that tell something to all of them, to the outermost alone, and back.
    void turn(const LaneLayout::Track& shown);

private:
    void takeKeys(const LanesData& data);
    void foldIdleThreads(const LanesData& data);

    TrackOrder m_order;
    std::vector<std::string> m_keys; // by track: what m_order calls it
    std::set<std::size_t> m_folded, m_whole;
};

} // namespace strata::views
