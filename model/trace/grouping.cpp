// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/grouping.h"

#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

namespace strata::model {

namespace {

constexpr std::array<std::string_view, 5> kGroupingNames{ "line", "site", "stream", "pool", "size" };

/// Which rows of a table a column of ids refers to; the last one stands for "none".
template <class T, class Row>
std::vector<bool> usedRows(const Column<T>& column, std::size_t rows, Row&& rowOf)
{
    std::vector<bool> used(rows + 1);
    for (std::size_t first = 0; first < column.size(); first += Column<T>::kChunk)
        for (const T value : column.run(first))
            used[std::min<std::size_t>(rowOf(value), rows)] = true;
    return used;
}

std::string streamLabel(std::int64_t stream)
{
    // Numbers of the legacy and the per-thread default stream are small; the rest are pointers.
    return stream >= 0 && stream < 4096 ? fmt::format("stream {}", stream)
                                        : "stream " + formatAddress(static_cast<std::uint64_t>(stream));
}

/// "512 MiB" where that says it all, else the exact number.
std::string sizeLabel(std::int64_t bytes)
{
    std::string text = formatBytes(bytes);
    return parseBytes(text) == bytes ? text : formatExactBytes(bytes);
}

} // namespace

std::string_view groupingName(Grouping grouping)
{
    return kGroupingNames[static_cast<std::size_t>(grouping)];
}

std::optional<Grouping> groupingFromName(std::string_view name)
{
    const auto* const known = std::find(kGroupingNames.begin(), kGroupingNames.end(), name);
    if (known == kGroupingNames.end())
        return std::nullopt;
    return static_cast<Grouping>(known - kGroupingNames.begin());
}

std::string poolLabel(const Recording& recording, PoolIndex pool)
{
    if (pool == kNoIndex)
        return "unknown";
    const Pool& p = recording.pools[pool];
    const std::string_view kind = p.kind == SegmentKind::Small ? "small"
        : p.kind == SegmentKind::Large                         ? "large"
                                                               : "unknown";
    return p.owner == 0 && p.id == 0 ? std::string(kind) : fmt::format("({},{})/{}", p.owner, p.id, kind);
}

PoolIndex poolOfEvent(const DeviceTrace& trace, EventIndex event)
{
    const EventColumns& events = trace.events();
    const auto row = static_cast<std::size_t>(event);
    PoolIndex pool = kNoIndex;
    if (const BlockId block = events.block[row]; block.valid()) {
        pool = trace.blocks().pool[block.index()];
    } else {
        const Action action = events.action[row];
        const bool begins = action == Action::SegmentAlloc || action == Action::SegmentMap;
        const bool ends = action == Action::SegmentFree || action == Action::SegmentUnmap;
        const SegmentLife* segment
            = begins || ends ? trace.segmentAt(events.address[row], ends ? event - 1 : event) : nullptr;
        if (segment)
            pool = segment->pool;
    }
    return pool != kNoIndex ? pool : events.pool[row];
}

GroupTable::GroupTable(const DeviceTrace& trace, Grouping grouping)
    : m_trace(&trace)
    , m_grouping(grouping)
{
    switch (grouping) {
    case Grouping::Line:
    case Grouping::Site:
        groupStacks(trace.recording(),
            usedRows(trace.blocks().stack, trace.recording().stacks.stackCount(),
                [](StackId stack) { return stack.index(); }));
        break;
    case Grouping::Stream:
        groupStreams();
        break;
    case Grouping::Pool:
        groupPools();
        break;
    case Grouping::Size:
        groupSizes();
        break;
    }
}

GroupTable::GroupTable(const Recording& recording, std::span<const StackId> stacks)
    : m_grouping(Grouping::Line)
{
    std::vector<bool> used(recording.stacks.stackCount() + 1);
    for (const StackId stack : stacks)
        used[std::min<std::size_t>(stack.index(), used.size() - 1)] = true;
    groupStacks(recording, used);
}

std::uint32_t GroupTable::add(std::string label, std::int64_t value, StackId stack)
{
    m_labels.push_back(std::move(label));
    m_values.push_back(value);
    m_stacks.push_back(stack);
    return count() - 1;
}

/// Those that are `used`; its last entry stands for "none".
void GroupTable::groupStacks(const Recording& recording, const std::vector<bool>& used)
{
    const std::size_t stacks = recording.stacks.stackCount();
    m_groupOfValue.assign(stacks + 1, 0);
    UserFrames userFrames(recording);
    boost::unordered_flat_map<std::string, std::uint32_t> byLabel;
    bool withoutStack = used[stacks];
    std::vector<std::size_t> empty; // stacks without frames are no stacks
    for (std::size_t row = 0; row < stacks; ++row) {
        if (!used[row])
            continue;
        const StackId stack{ static_cast<std::uint32_t>(row) };
        const FrameId frame = userFrames.of(stack);
        if (!frame.valid()) {
            withoutStack = true;
            empty.push_back(row);
            continue;
        }
        std::string label = frameLabel(recording, frame);
        if (m_grouping == Grouping::Site) {
            m_groupOfValue[row] = add(std::move(label), stack.value, stack);
            continue;
        }
        const auto [known, isNew] = byLabel.try_emplace(label, count());
        m_groupOfValue[row] = isNew ? add(std::move(label), stack.value, stack) : known->second;
    }
    if (withoutStack)
        m_groupOfValue[stacks] = add(std::string(kNoStackLabel), -1);
    for (const std::size_t row : empty)
        m_groupOfValue[row] = m_groupOfValue[stacks];
}

void GroupTable::groupStreams()
{
    const std::vector<std::int64_t>& streams = m_trace->recording().streams;
    const std::vector<bool> used
        = usedRows(m_trace->blocks().stream, streams.size(), [](StreamIndex s) { return std::size_t{ s }; });
    m_groupOfValue.assign(streams.size() + 1, 0);
    for (std::size_t row = 0; row < streams.size(); ++row)
        if (used[row])
            m_groupOfValue[row] = add(streamLabel(streams[row]), streams[row]);
    if (used[streams.size()])
        m_groupOfValue[streams.size()] = add("unknown stream", -1);
}

void GroupTable::groupPools()
{
    const std::size_t pools = m_trace->recording().pools.size();
    const std::vector<bool> used
        = usedRows(m_trace->blocks().pool, pools, [](PoolIndex p) { return std::size_t{ p }; });
    m_groupOfValue.assign(pools + 1, 0);
    boost::unordered_flat_map<std::string, std::uint32_t> byLabel;
    for (std::size_t row = 0; row <= pools; ++row) {
        if (!used[row])
            continue;
        const PoolIndex pool = row < pools ? static_cast<PoolIndex>(row) : kNoIndex;
        std::string label = poolLabel(m_trace->recording(), pool);
        const auto [known, isNew] = byLabel.try_emplace(label, count());
        m_groupOfValue[row]
            = isNew ? add(std::move(label), pool == kNoIndex ? -1 : std::int64_t{ pool }) : known->second;
    }
}

void GroupTable::groupSizes()
{
    boost::unordered_flat_set<std::int64_t> distinct;
    const Column<std::int64_t>& sizes = m_trace->blocks().requestedBytes;
    for (std::size_t first = 0; first < sizes.size(); first += Column<std::int64_t>::kChunk)
        for (const std::int64_t bytes : sizes.run(first))
            distinct.insert(bytes);
    std::vector<std::int64_t> sorted(distinct.begin(), distinct.end());
    std::sort(sorted.begin(), sorted.end());
    for (const std::int64_t bytes : sorted)
        m_groupOfSize.emplace_back(bytes, add(sizeLabel(bytes), bytes));
}

std::uint32_t GroupTable::groupOfStack(StackId stack) const
{
    return m_groupOfValue[std::min<std::size_t>(stack.index(), m_groupOfValue.size() - 1)];
}

std::uint32_t GroupTable::groupOf(BlockId block) const
{
    const BlockColumns& blocks = m_trace->blocks();
    const auto ofRow
        = [&](std::size_t row) { return m_groupOfValue[std::min(row, m_groupOfValue.size() - 1)]; };
    switch (m_grouping) {
    case Grouping::Line:
    case Grouping::Site:
        return groupOfStack(blocks.stack[block.index()]);
    case Grouping::Stream:
        return ofRow(blocks.stream[block.index()]);
    case Grouping::Pool:
        return ofRow(blocks.pool[block.index()]);
    case Grouping::Size:
        break;
    }
    const auto found = std::lower_bound(m_groupOfSize.begin(), m_groupOfSize.end(),
        std::pair(blocks.requestedBytes[block.index()], std::uint32_t{ 0 }));
    return found->second;
}

} // namespace strata::model
