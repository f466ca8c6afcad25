// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/grouping.h"

#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

namespace strata::model {

namespace {

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

void narrowToLine(BlockFilter& filter, const DeviceTrace&, const GroupTable& table, std::uint32_t group)
{
    if (table.stackOf(group).valid())
        filter.line = table.label(group);
    else
        filter.sites = { StackId() };
}

void narrowToLineOf(BlockFilter& filter, const DeviceTrace& trace, BlockId block)
{
    const FrameId frame = userFrame(trace.recording(), trace.blocks().stack[block]);
    if (frame.valid())
        filter.line = frameLabel(trace.recording(), frame);
    else
        filter.sites = { StackId() };
}

void narrowToSite(BlockFilter& filter, const DeviceTrace&, const GroupTable& table, std::uint32_t group)
{
    filter.sites = { table.stackOf(group) };
}

void narrowToSiteOf(BlockFilter& filter, const DeviceTrace& trace, BlockId block)
{
    const StackId stack = trace.blocks().stack[block];
    filter.sites = { userFrame(trace.recording(), stack).valid() ? stack : StackId() };
}

void narrowToStream(
    BlockFilter& filter, const DeviceTrace& trace, const GroupTable& table, std::uint32_t group)
{
    const std::vector<std::int64_t>& streams = trace.recording().streams;
    const auto found = std::find(streams.begin(), streams.end(), table.valueOf(group));
    filter.stream = found == streams.end() ? kNoIndex : static_cast<StreamIndex>(found - streams.begin());
}

void narrowToStreamOf(BlockFilter& filter, const DeviceTrace& trace, BlockId block)
{
    filter.stream = trace.blocks().stream[block];
}

void narrowToPool(BlockFilter& filter, const DeviceTrace&, const GroupTable& table, std::uint32_t group)
{
    const std::int64_t pool = table.valueOf(group);
    filter.pool = pool < 0 ? kNoIndex : static_cast<PoolIndex>(pool);
}

void narrowToPoolOf(BlockFilter& filter, const DeviceTrace& trace, BlockId block)
{
    filter.pool = trace.blocks().pool[block];
}

void narrowToSize(BlockFilter& filter, const DeviceTrace&, const GroupTable& table, std::uint32_t group)
{
    filter.minBytes = filter.maxBytes = table.valueOf(group);
}

void narrowToSizeOf(BlockFilter& filter, const DeviceTrace& trace, BlockId block)
{
    filter.minBytes = filter.maxBytes = trace.blocks().requestedBytes[block];
}

void narrowToCategory(BlockFilter& filter, const DeviceTrace&, const GroupTable& table, std::uint32_t group)
{
    filter.category = table.label(group);
}

void narrowToModule(BlockFilter& filter, const DeviceTrace&, const GroupTable& table, std::uint32_t group)
{
    filter.module = table.label(group);
}

using Key = GroupingInfo::Key;
// In the order of Grouping.
constexpr std::array kGroupings{
    GroupingInfo{ Grouping::Line, "line", English("Line of code"), English("Line"),
        English("Filter by its line"), Key::Label, true, false, false, narrowToLine, narrowToLineOf },
    GroupingInfo{ Grouping::Site, "site", English("Site (whole stack)"), English("Site"),
        English("Filter by its stack"), Key::Stack, true, false, false, narrowToSite, narrowToSiteOf },
    GroupingInfo{ Grouping::Stream, "stream", English("Stream"), English("Stream"),
        English("Filter by its stream"), Key::Value, false, false, false, narrowToStream, narrowToStreamOf },
    GroupingInfo{ Grouping::Pool, "pool", English("Pool"), English("Pool"), English("Filter by its pool"),
        Key::Label, false, false, false, narrowToPool, narrowToPoolOf },
    GroupingInfo{ Grouping::Size, "size", English("Size of a block"), English("Size"),
        English("Filter by its size"), Key::Value, false, false, false, narrowToSize, narrowToSizeOf },
    GroupingInfo{ Grouping::Category, "category", English("Category"), English("Category"),
        English("Filter by its category"), Key::Label, false, true, true, narrowToCategory, nullptr },
    GroupingInfo{ Grouping::Module, "module", English("Module"), English("Module"),
        English("Filter by its module"), Key::Label, false, true, false, narrowToModule, nullptr },
};
constexpr std::size_t kOfTraces = 5;
static_assert([] {
    for (std::size_t i = 0; i < kGroupings.size(); ++i)
        if (kGroupings[i].grouping != static_cast<Grouping>(i) || kGroupings[i].ofLabels != (i >= kOfTraces))
            return false;
    return true;
}());

} // namespace

std::span<const GroupingInfo> groupings()
{
    return std::span(kGroupings).first(kOfTraces);
}

std::span<const GroupingInfo> allGroupings()
{
    return kGroupings;
}

const GroupingInfo& infoOf(Grouping grouping)
{
    return kGroupings[static_cast<std::size_t>(grouping)];
}

std::optional<Grouping> groupingFromName(std::string_view name)
{
    for (const GroupingInfo& info : kGroupings)
        if (info.name == name)
            return info.grouping;
    return std::nullopt;
}

std::string groupingNames()
{
    std::string names;
    for (const GroupingInfo& info : kGroupings)
        names += fmt::format("{}{}",
            names.empty()                     ? ""
                : &info == &kGroupings.back() ? " or "
                                              : ", ",
            info.name);
    return names;
}

std::string poolLabel(const Recording& recording, PoolIndex pool)
{
    return pool == kNoIndex ? std::string(kindName(SegmentKind::Unknown)) : poolName(recording.pools[pool]);
}

PoolIndex poolOfEvent(const DeviceTrace& trace, EventIndex event)
{
    const EventColumns& events = trace.events();
    const auto row = static_cast<std::size_t>(event);
    PoolIndex pool = kNoIndex;
    if (const BlockId block = events.block[row]; block.valid()) {
        pool = trace.blocks().pool[block];
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
    groupBlocks();
}

GroupTable::GroupTable(const DeviceTrace& trace, const GroupTable& earlier)
    : GroupTable(earlier)
{
    m_trace = &trace;
    groupBlocks();
}

GroupTable::GroupTable(const DeviceTrace& trace, Grouping grouping, std::shared_ptr<const BlockLabels> labels)
    : m_trace(&trace)
    , m_grouping(grouping)
    , m_blockLabels(std::move(labels))
{
    groupBlocks();
}

GroupTable::GroupTable(const Recording& recording, std::span<const StackId> stacks)
    : m_grouping(Grouping::Line)
{
    m_groupOfValue.extendTo(recording.stacks.stackCount(), kNoGroup);
    std::vector<std::size_t> rows;
    for (const StackId stack : stacks)
        rows.push_back(std::min<std::size_t>(stack.index(), m_groupOfValue.size()));
    std::ranges::sort(rows);
    const auto twice = std::ranges::unique(rows);
    rows.erase(twice.begin(), twice.end());
    groupStacks(recording, rows);
}

std::optional<std::uint32_t> GroupTable::sameGroup(const GroupTable& other, std::uint32_t group) const
{
    if (m_grouping != other.m_grouping || group >= other.count())
        return std::nullopt;
    if (sharesGroups(other))
        return group < count() ? std::optional(group) : std::nullopt;
    return find(other.keyOf(group));
}

GroupKey GroupTable::keyOf(std::uint32_t group) const
{
    return infoOf(m_grouping).key == GroupingInfo::Key::Label ? GroupKey{ label(group), 0 }
                                                              : GroupKey{ {}, valueOf(group) };
}

std::optional<std::uint32_t> GroupTable::find(const GroupKey& key) const
{
    const bool byLabel = infoOf(m_grouping).key == GroupingInfo::Key::Label;
    for (std::uint32_t group = 0; group < count(); ++group)
        if (byLabel ? label(group) == key.label : valueOf(group) == key.value)
            return group;
    return std::nullopt;
}

/// Gives the blocks that it does not know yet their groups.
void GroupTable::groupBlocks()
{
    const Recording& recording = m_trace->recording();
    const BlockColumns& blocks = m_trace->blocks();
    switch (m_grouping) {
    case Grouping::Line:
    case Grouping::Site:
        groupStacks(recording, newRows(blocks.stack, recording.stacks.stackCount(), [](StackId stack) {
            return stack.index();
        }));
        break;
    case Grouping::Stream:
        groupStreams(
            newRows(blocks.stream, recording.streams.size(), [](StreamIndex s) { return std::size_t{ s }; }));
        break;
    case Grouping::Pool:
        groupPools(
            newRows(blocks.pool, recording.pools.size(), [](PoolIndex p) { return std::size_t{ p }; }));
        break;
    case Grouping::Size:
        groupSizes();
        break;
    case Grouping::Category:
    case Grouping::Module:
        if (m_blockLabels)
            groupLabels();
        break;
    }
    m_born = blocks.bornCount();
    m_older = blocks.olderCount();
}

/// Which rows of a table the new blocks refer to that no block has before, ascending; `rows` stands for
/// "none".
template <class T, class Row>
std::vector<std::size_t> GroupTable::newRows(const BlockColumn<T>& column, std::size_t rows, Row&& rowOf)
{
    m_groupOfValue.extendTo(rows, kNoGroup);
    std::vector<bool> met(rows + 1);
    std::vector<std::size_t> found;
    const auto addFrom = [&](const Column<T>& part, std::size_t first) {
        for (std::span<const T> run = part.run(first); !run.empty(); run = part.run(first)) {
            for (const T value : run) {
                const std::size_t row = std::min<std::size_t>(rowOf(value), rows);
                if (met[row])
                    continue;
                met[row] = true;
                if (groupOfRow(row) == kNoGroup)
                    found.push_back(row);
            }
            first += run.size();
        }
    };
    addFrom(column.born, m_born);
    addFrom(column.older, m_older);
    std::ranges::sort(found);
    return found;
}

std::uint32_t GroupTable::add(std::string label, std::int64_t value, StackId stack)
{
    m_labels.push_back(std::move(label));
    m_values.push_back(value);
    m_stacks.push_back(stack);
    return count() - 1;
}

void GroupTable::groupStacks(const Recording& recording, const std::vector<std::size_t>& rows)
{
    if (rows.empty())
        return;
    UserFrames userFrames(recording);
    boost::unordered_flat_map<std::string_view, std::uint32_t> byLabel;
    if (m_grouping == Grouping::Line)
        for (std::uint32_t group = 0; group < count(); ++group)
            if (group != m_groupOfNone)
                byLabel.try_emplace(label(group), group);
    bool withoutStack = false;
    std::vector<std::size_t> empty; // stacks without frames are no stacks
    for (const std::size_t row : rows) {
        if (row == m_groupOfValue.size()) {
            withoutStack = true;
            continue;
        }
        const StackId stack{ static_cast<std::uint32_t>(row) };
        const FrameId frame = userFrames.of(stack);
        if (!frame.valid()) {
            withoutStack = true;
            empty.push_back(row);
            continue;
        }
        std::string label = frameLabel(recording, frame);
        std::uint32_t& group = m_groupOfValue.edit(row);
        if (m_grouping == Grouping::Site) {
            group = add(std::move(label), stack.value, stack);
        } else if (const auto known = byLabel.find(label); known != byLabel.end()) {
            group = known->second;
        } else {
            group = add(std::move(label), stack.value, stack);
            byLabel.emplace(m_labels[group], group);
        }
    }
    if (withoutStack && m_groupOfNone == kNoGroup)
        m_groupOfNone = add(std::string(kNoStackLabel), -1);
    for (const std::size_t row : empty)
        m_groupOfValue.edit(row) = m_groupOfNone;
}

void GroupTable::groupStreams(const std::vector<std::size_t>& rows)
{
    const std::vector<std::int64_t>& streams = m_trace->recording().streams;
    for (const std::size_t row : rows)
        if (row < streams.size())
            m_groupOfValue.edit(row) = add(streamLabel(streams[row]), streams[row]);
        else
            m_groupOfNone = add("unknown stream", -1);
}

void GroupTable::groupPools(const std::vector<std::size_t>& rows)
{
    const std::size_t pools = m_trace->recording().pools.size();
    for (const std::size_t row : rows) {
        const PoolIndex pool = row < pools ? static_cast<PoolIndex>(row) : kNoIndex;
        std::string label = poolLabel(m_trace->recording(), pool);
        const auto known = std::find(m_labels.begin(), m_labels.end(), label);
        const std::uint32_t group = known != m_labels.end()
            ? static_cast<std::uint32_t>(std::distance(m_labels.begin(), known))
            : add(std::move(label), pool == kNoIndex ? -1 : std::int64_t{ pool });
        (row < pools ? m_groupOfValue.edit(row) : m_groupOfNone) = group;
    }
}

void GroupTable::groupSizes()
{
    const auto isKnown = [this](std::int64_t bytes) {
        const auto found = std::lower_bound(
            m_groupOfSize.begin(), m_groupOfSize.end(), std::pair(bytes, std::uint32_t{ 0 }));
        return found != m_groupOfSize.end() && found->first == bytes;
    };
    boost::unordered_flat_set<std::int64_t> distinct;
    const auto addFrom = [&](const Column<std::int64_t>& sizes, std::size_t first) {
        for (auto run = sizes.run(first); !run.empty(); run = sizes.run(first)) {
            distinct.insert(run.begin(), run.end());
            first += run.size();
        }
    };
    addFrom(m_trace->blocks().requestedBytes.born, m_born);
    addFrom(m_trace->blocks().requestedBytes.older, m_older);
    std::vector<std::int64_t> sorted(distinct.begin(), distinct.end());
    std::sort(sorted.begin(), sorted.end());
    const auto had = static_cast<std::ptrdiff_t>(m_groupOfSize.size());
    std::vector<std::pair<std::int64_t, std::uint32_t>> added;
    for (const std::int64_t bytes : sorted)
        if (!isKnown(bytes))
            added.emplace_back(bytes, add(sizeLabel(bytes), bytes));
    m_groupOfSize.insert(m_groupOfSize.end(), added.begin(), added.end());
    std::inplace_merge(m_groupOfSize.begin(), m_groupOfSize.begin() + had, m_groupOfSize.end());
}

/// Labels never change: once they have their groups, only blocks without one can come.
void GroupTable::groupLabels()
{
    const std::vector<std::string>& names = m_blockLabels->names;
    const BlockColumn<std::uint32_t>& labelled = m_blockLabels->rows;
    if (m_groupOfValue.empty() && !names.empty())
        for (const std::size_t row :
            newRows(labelled, names.size(), [](std::uint32_t label) { return std::size_t{ label }; }))
            if (row < names.size())
                m_groupOfValue.edit(row) = add(names[row], static_cast<std::int64_t>(row));
    const BlockColumns& blocks = m_trace->blocks();
    const bool allHaveOne
        = labelled.born.size() >= blocks.bornCount() && labelled.older.size() >= blocks.olderCount();
    if (allHaveOne || m_groupOfNone != kNoGroup)
        return;
    const auto known = find(GroupKey{ std::string(kUnknownLabel), 0 });
    m_groupOfNone = known ? *known : add(std::string(kUnknownLabel), -1);
}

std::uint32_t GroupTable::groupOfStack(StackId stack) const
{
    return groupOfRow(stack.index());
}

std::uint32_t GroupTable::groupOf(BlockId block) const
{
    const BlockColumns& blocks = m_trace->blocks();
    switch (m_grouping) {
    case Grouping::Line:
    case Grouping::Site:
        return groupOfStack(blocks.stack[block]);
    case Grouping::Stream:
        return groupOfRow(blocks.stream[block]);
    case Grouping::Pool:
        return groupOfRow(blocks.pool[block]);
    case Grouping::Category:
    case Grouping::Module:
        return m_blockLabels ? groupOfRow(m_blockLabels->rowOf(block)) : kNoGroup;
    case Grouping::Size:
        break;
    }
    const auto found = std::lower_bound(m_groupOfSize.begin(), m_groupOfSize.end(),
        std::pair(blocks.requestedBytes[block], std::uint32_t{ 0 }));
    return found->second;
}

} // namespace strata::model
