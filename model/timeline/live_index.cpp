// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/live_index.h"

#include <algorithm>
#include <tuple>

namespace strata::model {

namespace {

constexpr std::size_t kFanOutBits = 4;
constexpr std::size_t kFanOut = std::size_t{ 1 } << kFanOutBits;

static_assert(Column<EventId>::kChunk % kFanOut == 0, "a node's children lie in one chunk");
static_assert(EventId::kNone > 0xfffffffeu, "a block without a death outlives every event");

} // namespace

std::uint32_t LiveIndex::Forest::leafMax(const Column<EventId>& deaths, std::size_t leaf) const
{
    std::uint32_t max = 0;
    for (const EventId death :
        deaths.run(leaf << kFanOutBits).first(std::min(kFanOut, deaths.size() - (leaf << kFanOutBits))))
        max = std::max(max, death.value);
    return max;
}

std::uint32_t LiveIndex::Forest::nodeMax(std::size_t level, std::size_t node) const
{
    std::uint32_t max = 0;
    const std::size_t end = std::min((node + 1) << kFanOutBits, nodes(level - 1));
    for (std::size_t child = node << kFanOutBits; child < end; ++child)
        max = std::max(max, at(level - 1, child));
    return max;
}

void LiveIndex::Forest::set(std::size_t level, std::size_t node, std::uint32_t max)
{
    if (level == 0)
        m_leaves.edit(node) = max;
    else
        m_upper[level - 1].edit(node) = max;
}

void LiveIndex::Forest::append(const Column<EventId>& deaths)
{
    std::size_t first = m_rows >> kFanOutBits;
    m_rows = deaths.size();
    m_leaves.extendTo((m_rows + kFanOut - 1) >> kFanOutBits, 0);
    for (std::size_t leaf = first; leaf < m_leaves.size(); ++leaf)
        m_leaves.edit(leaf) = leafMax(deaths, leaf);
    for (std::size_t level = 1; nodes(level - 1) > 1; ++level) {
        if (level == levels())
            m_upper.emplace_back();
        first >>= kFanOutBits;
        m_upper[level - 1].extendTo((nodes(level - 1) + kFanOut - 1) >> kFanOutBits, 0);
        for (std::size_t node = first; node < nodes(level); ++node)
            m_upper[level - 1].edit(node) = nodeMax(level, node);
    }
}

void LiveIndex::Forest::update(const Column<EventId>& deaths, std::size_t row)
{
    std::size_t node = row >> kFanOutBits;
    std::uint32_t max = leafMax(deaths, node);
    for (std::size_t level = 0; at(level, node) != max;) {
        set(level, node, max);
        if (++level == levels())
            return;
        node >>= kFanOutBits;
        max = nodeMax(level, node);
    }
}

template <class Visit>
void LiveIndex::Forest::visit(
    const Column<EventId>& deaths, std::size_t rows, std::uint32_t event, Visit&& visit) const
{
    if (rows == 0)
        return;
    const auto visitLeaf = [&](std::size_t leaf) {
        const std::size_t first = leaf << kFanOutBits;
        const EventId* const dies = deaths.run(first).data();
        const std::size_t size = std::min(kFanOut, rows - first);
        for (std::size_t i = 0; i < size; ++i) {
            if (dies[i].value > event)
                visit(first + i);
        }
    };
    const auto descend = [&](const auto& self, std::size_t level, std::size_t node) -> void {
        if (at(level, node) <= event)
            return;
        if (level == 0) {
            visitLeaf(node);
            return;
        }
        const std::size_t first = node << kFanOutBits;
        const std::size_t leavesOfChild = std::size_t{ 1 } << (kFanOutBits * (level - 1));
        const std::size_t end = std::min(first + kFanOut, nodes(level - 1));
        for (std::size_t child = first; child < end; ++child) {
            if (((child * leavesOfChild) << kFanOutBits) >= rows)
                break;
            self(self, level - 1, child);
        }
    };
    descend(descend, levels() - 1, 0);
}

std::size_t LiveIndex::Forest::bytesResident() const
{
    std::size_t bytes = m_leaves.bytesResident();
    for (const Level& level : m_upper)
        bytes += level.bytesResident();
    return bytes;
}

LiveIndex::LiveIndex(const DeviceTrace& trace)
    : m_trace(&trace)
{
    m_born.append(trace.blocks().freeCompleted.born);
    m_older.append(trace.blocks().freeCompleted.older);
}

LiveIndex::LiveIndex(const DeviceTrace& trace, const LiveIndex& earlier)
    : m_trace(&trace)
    , m_born(earlier.m_born)
{
    const EventColumns& events = trace.events();
    const BlockColumns& blocks = trace.blocks();
    const std::size_t had = earlier.m_trace->blocks().bornCount();
    const auto died = [&](BlockId block) {
        if (block.valid() && !block.isOlder() && block.row() < had)
            m_born.update(blocks.freeCompleted.born, block.row());
    };
    for (EventIndex e = earlier.m_trace->eventCount(); e < trace.eventCount(); ++e) {
        const auto row = static_cast<std::size_t>(e);
        if (events.action[row] == Action::FreeCompleted)
            died(events.block[row]);
        else if (events.action[row] == Action::Alloc)
            died(trace.overwrittenAt(e));
    }
    m_born.append(blocks.freeCompleted.born);
    m_older.append(blocks.freeCompleted.older);
}

std::size_t LiveIndex::rowsBornUpTo(EventIndex e) const
{
    const Column<EventId>& births = m_trace->blocks().alloc;
    std::size_t first = 0;
    std::size_t count = m_trace->blocks().bornCount();
    while (count > 0) { // the first row that is born later
        const std::size_t half = count / 2;
        if (static_cast<EventIndex>(births[first + half].value) <= e) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first;
}

/// Calls visit(BlockId) for every block that is live after event `e`, in no particular order.
template <class Visit> void LiveIndex::visit(EventIndex e, Visit&& visit) const
{
    const BlockColumns& blocks = m_trace->blocks();
    const auto event = static_cast<std::uint32_t>(
        std::max<EventIndex>(std::min<EventIndex>(e, m_trace->eventCount() - 1), 0));
    if (e < 0) { // no event frees a block before the first
        for (std::size_t row = 0; row < blocks.olderCount(); ++row)
            visit(BlockId::older(row));
        return;
    }
    m_older.visit(blocks.freeCompleted.older, blocks.olderCount(), event,
        [&](std::size_t row) { visit(BlockId::older(row)); });
    m_born.visit(blocks.freeCompleted.born, rowsBornUpTo(e), event,
        [&](std::size_t row) { visit(BlockId::born(row)); });
}

std::vector<BlockId> LiveIndex::liveAtUnordered(EventIndex e) const
{
    std::vector<BlockId> live;
    visit(e, [&live](BlockId id) { live.push_back(id); });
    return live;
}

std::vector<BlockId> LiveIndex::liveAt(EventIndex e) const
{
    const BlockColumns& blocks = m_trace->blocks();
    struct Entry {
        std::uint64_t address;
        EventIndex birth;
        BlockId id;
    };
    std::vector<Entry> entries;
    visit(e, [&](BlockId id) { entries.push_back({ blocks.address[id], blocks.birth(id), id }); });
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.address, a.birth, a.id) < std::tie(b.address, b.birth, b.id);
    });
    std::vector<BlockId> live;
    live.reserve(entries.size());
    for (const Entry& entry : entries)
        live.push_back(entry.id);
    return live;
}

BlockId LiveIndex::blockAt(std::uint64_t address, EventIndex e) const
{
    const BlockColumns& blocks = m_trace->blocks();
    BlockId found;
    visit(e, [&](BlockId id) {
        if (blocks.address[id] > address)
            return;
        std::uint64_t bytes
            = static_cast<std::uint64_t>(std::max<std::int64_t>(blocks.requestedBytes[id], 1));
        if (blocks.rounding[id] != BlockColumns::kRoundingUnknown)
            bytes += blocks.rounding[id];
        if (address - blocks.address[id] < bytes
            && (!found.valid() || blocks.birth(found) < blocks.birth(id)))
            found = id;
    });
    return found;
}

std::size_t LiveIndex::bytesResident() const
{
    return m_born.bytesResident() + m_older.bytesResident();
}

} // namespace strata::model
