// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/track_arrangement.h"

#include <algorithm>
#include <utility>

namespace strata::views {

TrackArrangement::TrackArrangement(const LanesData* data, TrackOrder order)
    : m_order(std::move(order))
{
    if (data == nullptr)
        return;
    takeKeys(*data);
    foldIdleThreads(*data);
}

/// Threads that launch nothing, of which Python's may be many, show their outermost row at first.
void TrackArrangement::foldIdleThreads(const LanesData& data)
{
    const auto tracks = data.tracks().tracks();
    const auto isThread
        = [&](const model::WorkTrack& track) { return !data.work().lanes[track.lane].device; };
    const bool launches
        = std::ranges::any_of(tracks, [](const model::WorkTrack& track) { return track.launches > 0; });
    for (std::size_t i = 0; launches && i < tracks.size(); ++i)
        if (isThread(tracks[i]) && tracks[i].launches == 0)
            m_folded.insert(i);
}

/// The same whenever the recording is opened.
void TrackArrangement::takeKeys(const LanesData& data)
{
    m_keys.clear();
    for (const model::WorkTrack& track : data.tracks().tracks()) {
        const model::WorkLane& lane = data.work().lanes[track.lane];
        std::string& key
            = m_keys.emplace_back(std::to_string(lane.process) + ":" + std::to_string(lane.thread));
        if (lane.device)
            key += ":" + std::to_string(*lane.device) + ":" + std::to_string(lane.stream);
    }
}

void TrackArrangement::goOn(const LanesData& before, const LanesData& data)
{
    const auto carried = [&](const std::set<std::size_t>& tracks) {
        std::set<std::size_t> now;
        for (const std::size_t track : tracks) {
            const model::WorkLane& lane = before.work().lanes[before.tracks().tracks()[track].lane];
            const auto found = std::ranges::find_if(data.tracks().tracks(),
                [&](const model::WorkTrack& each) { return data.work().lanes[each.lane] == lane; });
            if (found != data.tracks().tracks().end())
                now.insert(static_cast<std::size_t>(found - data.tracks().tracks().begin()));
        }
        return now;
    };
    m_folded = carried(m_folded);
    m_whole = carried(m_whole);
    takeKeys(data);
}

LaneLayout TrackArrangement::layOut(const LanesData& data, int rowHeight) const
{
    return { data.tracks(), m_folded, m_whole, rowHeight, arranged(m_order) };
}

bool TrackArrangement::setFolded(std::size_t track, bool folded)
{
    if (folded == m_folded.contains(track))
        return false;
    if (folded)
        m_folded.insert(track);
    else
        m_folded.erase(track);
    return true;
}

void TrackArrangement::showWhole(std::size_t track)
{
    m_folded.erase(track);
    m_whole.insert(track);
}

void TrackArrangement::turn(const LaneLayout::Track& shown)
{
    if (shown.left > 0) {
        m_whole.insert(shown.track);
        return;
    }
    m_whole.erase(shown.track);
    setFolded(shown.track, !isFolded(shown.track));
}

} // namespace strata::views
