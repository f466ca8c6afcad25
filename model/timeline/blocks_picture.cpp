// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/blocks_picture.h"

#include "model/timeline/block_drawing.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr std::size_t kLivesBetweenStops = std::size_t{ 1 } << 13;

} // namespace

struct BlocksIndex::Data {
    const DeviceTimeline& timeline;
    const StripLayout& strips;
    BlockPlaces places;
    bool stopped; // while it was built: answers nothing
};

BlocksIndex::BlocksIndex(
    const DeviceTimeline& timeline, const StripLayout& strips, const GroupTable& groups, std::stop_token stop)
    : m_data(new Data{ timeline, strips, BlockPlaces(timeline.trace().blocks(), strips, groups, stop),
        stop.stop_requested() })
{
}

BlocksIndex::BlocksIndex(const DeviceTimeline& timeline, const StripLayout& strips, const GroupTable& groups,
    const BlocksIndex& earlier, std::stop_token stop)
    : m_data(new Data{ timeline, strips,
        earlier.m_data->stopped
            ? BlockPlaces(timeline.trace().blocks(), strips, groups, stop)
            : BlockPlaces(timeline.trace().blocks(), strips, groups, earlier.m_data->places, stop),
        stop.stop_requested() })
{
}

BlocksIndex::~BlocksIndex() = default;

BlocksPicture BlocksIndex::picture(
    const BlocksWindow& window, const BlockMatcher* filter, std::stop_token stop) const
{
    if (window.x.columns <= 0 || window.rows <= 0 || !(window.x.begin < window.x.end)
        || !(window.yBegin < window.yEnd) || m_data->stopped)
        return {};
    BlockDrawing drawing(
        m_data->timeline.trace(), m_data->timeline.clock(), m_data->strips, m_data->places, window, filter);

    // Live at the left edge, then born inside the window, which is by ascending column.
    const EventIndex before = eventAtPosition(window.x.axis, m_data->timeline.clock(), window.x.begin);
    const EventIndex last = eventAtPosition(window.x.axis, m_data->timeline.clock(), window.x.end);
    for (const BlockId block : m_data->timeline.live().liveAtUnordered(before))
        drawing.addOlder(block);
    if (!drawing.addBorn(
            m_data->timeline.live().rowsBornUpTo(before), m_data->timeline.live().rowsBornUpTo(last), stop))
        return {};

    std::size_t count = 0;
    for (const SegmentLife& life : m_data->timeline.trace().segmentLives()) {
        if (++count % kLivesBetweenStops == 0 && stop.stop_requested())
            return {};
        drawing.addSegment(life);
    }
    BlocksPicture picture = drawing.finish(stop);
    return stop.stop_requested() ? BlocksPicture{} : std::move(picture);
}

BlockId BlocksIndex::pick(EventIndex e, double yBegin, double yEnd, const BlockMatcher* filter) const
{
    const BlockColumns& blocks = m_data->timeline.trace().blocks();
    BlockId best;
    if (m_data->stopped)
        return best;
    double most = 0;
    for (const BlockId block : m_data->timeline.live().liveAtUnordered(e)) {
        const BlockPlace place = m_data->places[block];
        const auto y = static_cast<double>(place.y);
        const double held = std::min(yEnd, y + static_cast<double>(place.bytes)) - std::max(yBegin, y);
        if (held <= 0 || held < most || (filter && !(*filter)(block)))
            continue;
        if (held > most || blocks.birth(best) < blocks.birth(block)) {
            best = block;
            most = held;
        }
    }
    return best;
}

std::size_t BlocksIndex::bytesResident() const
{
    return m_data->places.bytesResident();
}

} // namespace strata::model
