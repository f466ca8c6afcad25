// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/groups.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

namespace strata::model {

namespace {

/// Fills the groups and the sums of a LiveGroups.
class GroupSums {
public:
    explicit GroupSums(LiveGroups& live)
        : m_live(live)
    {
    }

    void add(std::uint32_t group, std::int64_t bytes, std::int64_t blocks)
    {
        m_live.requestedBytes = wrapAdd(m_live.requestedBytes, bytes);
        m_live.blocks = wrapAdd(m_live.blocks, blocks);
        const auto [row, isNew] = m_rows.try_emplace(group, m_live.groups.size());
        if (isNew)
            m_live.groups.push_back({ group, 0, 0 });
        GroupSum& sum = m_live.groups[row->second];
        sum.bytes = wrapAdd(sum.bytes, bytes);
        sum.blocks = wrapAdd(sum.blocks, blocks);
    }

    void sort(const GroupTable& table)
    {
        std::sort(m_live.groups.begin(), m_live.groups.end(), [&](const GroupSum& a, const GroupSum& b) {
            if (a.bytes != b.bytes)
                return a.bytes > b.bytes;
            const int order = table.label(a.group).compare(table.label(b.group));
            // Values, not numbers: those depend on how the table grew.
            return order != 0 ? order < 0 : table.valueOf(a.group) < table.valueOf(b.group);
        });
    }

private:
    LiveGroups& m_live;
    boost::unordered_flat_map<std::uint32_t, std::size_t> m_rows;
};

} // namespace

LiveGroups groupBlocks(const DeviceTrace& trace, std::span<const BlockId> active, const GroupTable& table,
    EventIndex event, const BlockMatcher* filter)
{
    const BlockColumns& blocks = trace.blocks();
    LiveGroups live;
    live.event = event;
    GroupSums sums(live);
    for (const BlockId block : active) {
        if (filter && !(*filter)(block))
            continue;
        const std::int64_t bytes = blocks.requestedBytes[block];
        if (block.isOlder())
            live.beforeTraceBytes = wrapAdd(live.beforeTraceBytes, bytes);
        sums.add(table.groupOf(block), bytes, 1);
    }
    sums.sort(table);
    return live;
}

LiveGroups groupStacks(std::span<const StackSum> stacks, const GroupTable& table, EventIndex event)
{
    LiveGroups live;
    live.event = event;
    GroupSums sums(live);
    for (const StackSum& sum : stacks)
        sums.add(table.groupOfStack(sum.stack), sum.bytes, sum.blocks);
    sums.sort(table);
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
