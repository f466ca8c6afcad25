// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/event_pools.h"

#include <algorithm>

namespace strata::model {

PoolOwner poolOwnerOf(const Recording& recording, PoolIndex pool)
{
    if (pool == kNoIndex)
        return {};
    return { recording.pools[pool].owner, recording.pools[pool].id };
}

EventPools::EventPools(const DeviceTrace& trace)
    : m_trace(&trace)
    , m_anyPrivate(std::ranges::any_of(
          trace.recording().pools, [](const Pool& pool) { return pool.owner != 0 || pool.id != 0; }))
{
}

PoolOwner EventPools::at(std::size_t row) const
{
    if (!m_anyPrivate)
        return {};
    const EventColumns& events = m_trace->events();
    if (const PoolIndex pool = events.pool[row]; pool != kNoIndex)
        return poolOwnerOf(m_trace->recording(), pool);
    const Action action = events.action[row];
    if (action == Action::Oom)
        return {};
    // An address may have been of another pool's segment earlier, which is gone.
    const bool frees = action == Action::SegmentFree || action == Action::SegmentUnmap;
    const SegmentLife* life
        = m_trace->segmentAt(events.address[row], static_cast<EventIndex>(row) - (frees ? 1 : 0));
    return life != nullptr ? poolOwnerOf(m_trace->recording(), life->pool) : PoolOwner{};
}

} // namespace strata::model
