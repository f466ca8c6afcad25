// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/groups.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

namespace strata::model {

std::vector<BlockId> activeBlocks(const DeviceTrace& trace, EventIndex event)
{
    const BlockColumns& blocks = trace.blocks();
    std::vector<BlockId> active;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        const BlockId block{ static_cast<std::uint32_t>(i) };
        if (blocks.liveAt(block, event))
            active.push_back(block);
    }
    return active;
}

LiveGroups groupBlocks(const DeviceTrace& trace, std::span<const BlockId> active, const GroupTable& table,
    EventIndex event, const BlockMatcher* filter)
{
    const BlockColumns& blocks = trace.blocks();
    LiveGroups live;
    live.event = event;
    boost::unordered_flat_map<std::uint32_t, std::size_t> rows;
    for (const BlockId block : active) {
        if (filter && !(*filter)(block))
            continue;
        const std::int64_t bytes = blocks.requestedBytes[block.index()];
        live.requestedBytes = wrapAdd(live.requestedBytes, bytes);
        ++live.blocks;
        if (!blocks.alloc[block.index()].valid())
            live.beforeTraceBytes = wrapAdd(live.beforeTraceBytes, bytes);

        const std::uint32_t group = table.groupOf(block);
        const auto [row, isNew] = rows.try_emplace(group, live.groups.size());
        if (isNew)
            live.groups.push_back({ group, 0, 0 });
        GroupSum& sum = live.groups[row->second];
        sum.bytes = wrapAdd(sum.bytes, bytes);
        ++sum.blocks;
    }
    std::sort(live.groups.begin(), live.groups.end(), [&](const GroupSum& a, const GroupSum& b) {
        if (a.bytes != b.bytes)
            return a.bytes > b.bytes;
        const int order = table.label(a.group).compare(table.label(b.group));
        return order != 0 ? order < 0 : a.group < b.group;
    });
    return live;
}

LiveGroups groupsAt(
    const DeviceTimeline& timeline, const GroupTable& table, EventIndex event, const BlockMatcher* filter)
{
    return groupBlocks(timeline.trace(), timeline.live().liveAt(event), table, event, filter);
}

LiveGroups groupsAt(
    const DeviceTrace& trace, const GroupTable& table, EventIndex event, const BlockMatcher* filter)
{
    return groupBlocks(trace, activeBlocks(trace, event), table, event, filter);
}

} // namespace strata::model
