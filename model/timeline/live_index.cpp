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

LiveIndex::LiveIndex(const DeviceTrace& trace)
    : m_trace(&trace)
    , m_before(trace.blocksBeforeTrace())
{
    const BlockColumns& blocks = trace.blocks();
    const std::size_t count = blocks.olderFrom;

    std::vector<std::uint32_t> level((count + kFanOut - 1) / kFanOut, 0);
    for (std::size_t i = 0; i < count; ++i)
        level[i >> kFanOutBits] = std::max(level[i >> kFanOutBits], blocks.freeCompleted[i].value);
    while (level.size() > 1) {
        std::vector<std::uint32_t> above((level.size() + kFanOut - 1) / kFanOut, 0);
        for (std::size_t i = 0; i < level.size(); ++i)
            above[i >> kFanOutBits] = std::max(above[i >> kFanOutBits], level[i]);
        m_levels.push_back(std::move(level));
        level = std::move(above);
    }
    m_levels.push_back(std::move(level));

    std::sort(m_before.begin(), m_before.end(), [&blocks](BlockId a, BlockId b) {
        const std::uint32_t deathA = blocks.freeCompleted[a.index()].value;
        const std::uint32_t deathB = blocks.freeCompleted[b.index()].value;
        return deathA != deathB ? deathA > deathB : a < b;
    });
}

std::size_t LiveIndex::rowsBornUpTo(EventIndex e) const
{
    const Column<EventId>& births = m_trace->blocks().alloc;
    std::size_t first = 0;
    std::size_t count = m_trace->blocks().olderFrom;
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
    for (const BlockId id : m_before) {
        if (blocks.death(id) <= e)
            break;
        visit(id);
    }
    const std::size_t rows = rowsBornUpTo(e);
    if (rows == 0)
        return;
    const auto event = static_cast<std::uint32_t>(std::min<EventIndex>(e, m_trace->eventCount() - 1));

    const auto visitLeaf = [&](std::size_t leaf) {
        const std::size_t first = leaf << kFanOutBits;
        const EventId* const deaths = blocks.freeCompleted.run(first).data();
        const std::size_t size = std::min(kFanOut, rows - first);
        for (std::size_t i = 0; i < size; ++i) {
            if (deaths[i].value > event)
                visit(BlockId{ static_cast<std::uint32_t>(first + i) });
        }
    };
    const auto descend = [&](const auto& self, std::size_t level, std::size_t node) -> void {
        if (m_levels[level][node] <= event)
            return;
        if (level == 0) {
            visitLeaf(node);
            return;
        }
        const std::size_t first = node << kFanOutBits;
        const std::size_t leavesOfChild = std::size_t{ 1 } << (kFanOutBits * (level - 1));
        const std::size_t end = std::min(first + kFanOut, m_levels[level - 1].size());
        for (std::size_t child = first; child < end; ++child) {
            if (((child * leavesOfChild) << kFanOutBits) >= rows)
                break;
            self(self, level - 1, child);
        }
    };
    descend(descend, m_levels.size() - 1, 0);
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
    visit(e, [&](BlockId id) { entries.push_back({ blocks.address[id.index()], blocks.birth(id), id }); });
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
        const std::size_t row = id.index();
        if (blocks.address[row] > address)
            return;
        std::uint64_t bytes
            = static_cast<std::uint64_t>(std::max<std::int64_t>(blocks.requestedBytes[row], 1));
        if (blocks.rounding[row] != BlockColumns::kRoundingUnknown)
            bytes += blocks.rounding[row];
        if (address - blocks.address[row] < bytes
            && (!found.valid() || blocks.birth(found) < blocks.birth(id)))
            found = id;
    });
    return found;
}

std::size_t LiveIndex::bytesResident() const
{
    std::size_t bytes = m_before.capacity() * sizeof(BlockId);
    for (const std::vector<std::uint32_t>& level : m_levels)
        bytes += level.capacity() * sizeof(std::uint32_t);
    return bytes;
}

} // namespace strata::model
