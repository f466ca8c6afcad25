// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/layer_order.h"

#include <algorithm>
#include <numeric>

namespace strata::model {

LayerOrder::LayerOrder(const DeviceTrace& trace, const LiveIndex& live, const GroupTable& groups)
    : m_weights(groups.count())
{
    const BlockColumns& blocks = trace.blocks();
    for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
        const BlockId block = BlockId::born(row);
        const Sum bytes = blocks.requestedBytes.born[row];
        const EventIndex birth = blocks.birth(block), death = blocks.death(block);
        Weight& weight = m_weights[groups.groupOf(block)];
        if (death != BlockColumns::kNever) {
            weight.moment += bytes * (death - birth);
        } else { // born()
            weight.live += bytes;
            weight.moment -= bytes * birth;
        }
    }
    takePeak(trace, live, groups);
    sort(trace, groups);
}

LayerOrder::LayerOrder(
    const DeviceTrace& trace, const LiveIndex& live, const GroupTable& groups, const LayerOrder& earlier)
    : m_weights(earlier.m_weights)
{
    m_weights.resize(groups.count());
    const EventColumns& events = trace.events();
    for (std::size_t row = earlier.m_born; row < trace.blocks().bornCount(); ++row)
        born(trace, groups, BlockId::born(row));
    for (EventIndex e = earlier.m_events; e < trace.eventCount(); ++e) {
        const auto row = static_cast<std::size_t>(e);
        const BlockId ended = events.action[row] == Action::FreeCompleted ? events.block[row]
            : events.action[row] == Action::Alloc                         ? trace.overwrittenAt(e)
                                                                          : BlockId{};
        if (ended.valid() && !ended.isOlder())
            died(trace, groups, ended, e);
    }
    m_peak = earlier.m_peak;
    if (trace.totals().requestedPeakEvent != m_peak || trace.blocks().olderCount() != earlier.m_older)
        takePeak(trace, live, groups);
    sort(trace, groups);
}

void LayerOrder::born(const DeviceTrace& trace, const GroupTable& groups, BlockId block)
{
    const Sum bytes = trace.blocks().requestedBytes[block];
    Weight& weight = m_weights[groups.groupOf(block)];
    weight.live += bytes;
    weight.moment -= bytes * trace.blocks().birth(block);
}

void LayerOrder::died(const DeviceTrace& trace, const GroupTable& groups, BlockId block, EventIndex at)
{
    const Sum bytes = trace.blocks().requestedBytes[block];
    Weight& weight = m_weights[groups.groupOf(block)];
    weight.live -= bytes;
    weight.moment += bytes * at;
}

void LayerOrder::takePeak(const DeviceTrace& trace, const LiveIndex& live, const GroupTable& groups)
{
    m_peak = trace.totals().requestedPeakEvent;
    for (Weight& weight : m_weights)
        weight.atPeak = weight.olderAtPeak = 0;
    const bool apart = !infoOf(groups.grouping()).ofLabels;
    for (const BlockId block : live.liveAtUnordered(m_peak)) {
        Weight& weight = m_weights[groups.groupOf(block)];
        (block.isOlder() && apart ? weight.olderAtPeak : weight.atPeak)
            += trace.blocks().requestedBytes[block];
    }
}

void LayerOrder::sort(const DeviceTrace& trace, const GroupTable& groups)
{
    m_events = trace.eventCount();
    m_born = trace.blocks().bornCount();
    m_older = trace.blocks().olderCount();
    const auto overTime = [this](const Weight& weight) { return weight.moment + m_events * weight.live; };
    m_groups.resize(m_weights.size());
    std::iota(m_groups.begin(), m_groups.end(), 0u);
    const bool fixed = infoOf(groups.grouping()).fixedOrder;
    const auto place = [&](std::uint32_t group) { // what has no value comes last
        return static_cast<std::uint64_t>(groups.valueOf(group));
    };
    std::ranges::sort(m_groups, [&](std::uint32_t one, std::uint32_t other) {
        if (fixed && place(one) != place(other))
            return place(one) < place(other);
        const Weight &a = m_weights[one], &b = m_weights[other];
        if (a.atPeak != b.atPeak)
            return a.atPeak > b.atPeak;
        if (a.atPeak == 0 && overTime(a) != overTime(b))
            return overTime(a) > overTime(b);
        if (a.atPeak == 0 && a.olderAtPeak != b.olderAtPeak)
            return a.olderAtPeak > b.olderAtPeak;
        const int order = groups.label(one).compare(groups.label(other)); // as LiveGroups lists them
        return order != 0 ? order < 0 : groups.valueOf(one) < groups.valueOf(other);
    });
}

} // namespace strata::model
