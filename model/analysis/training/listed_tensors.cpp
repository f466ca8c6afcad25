// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/listed_tensors.h"

#include "model/trace/live_extents.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <queue>
#include <tuple>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;
using Placed = ListedTensors::Placed;

/// Of programs not even one tensor an event is found in a block that was made anew. A file may hold thousands
/// that lie in one block, and have that made anew for each of thousands of steps.
constexpr std::int64_t kMostSaidAnEvent = 4;

/// The blocks that lie over any of some addresses, and which of them lives there as events pass.
class Followed {
public:
    Followed(const DeviceTrace& trace, std::vector<std::uint64_t> addresses)
        : m_trace(trace)
        , m_addresses(std::move(addresses))
        , m_followed(trace.blocks().bornCount())
    {
        std::ranges::sort(m_addresses);
        const auto twice = std::ranges::unique(m_addresses);
        m_addresses.erase(twice.begin(), twice.end());
        const BlockColumns& blocks = trace.blocks();
        for (std::size_t row = 0; row < blocks.olderCount(); ++row)
            add(BlockId::older(row));
    }

    void pass(EventIndex event)
    {
        const auto row = static_cast<std::size_t>(event);
        const EventColumns& events = m_trace.events();
        const Action action = events.action[row];
        if (action == Action::Alloc) {
            if (const BlockId old = m_trace.overwrittenAt(event); old.valid())
                m_live.erase(m_trace.blocks().address[old], old);
            if (const BlockId block = events.block[row]; block.valid())
                add(block);
        } else if (action == Action::FreeCompleted) {
            const BlockId block = events.block[row];
            if (block.valid() && (block.isOlder() ? isOver(block) : m_followed[block.row()]))
                m_live.erase(m_trace.blocks().address[block], block);
        }
    }

    [[nodiscard]] BlockId at(std::uint64_t address) const { return m_live.at(address); }

private:
    [[nodiscard]] std::uint64_t endOf(BlockId block) const
    {
        const auto bytes
            = static_cast<std::uint64_t>(std::max<std::int64_t>(m_trace.blocks().requestedBytes[block], 1));
        const std::uint64_t begin = m_trace.blocks().address[block];
        return begin + std::min(bytes, ~begin);
    }
    [[nodiscard]] bool isOver(BlockId block) const
    {
        const auto next = std::ranges::lower_bound(m_addresses, m_trace.blocks().address[block]);
        return next != m_addresses.end() && *next < endOf(block);
    }
    void add(BlockId block)
    {
        if (!isOver(block))
            return;
        if (!block.isOlder())
            m_followed[block.row()] = true;
        const std::uint64_t begin = m_trace.blocks().address[block], end = endOf(block);
        if (begin < end)
            (void)m_live.insert(begin, end, block);
    }

    const DeviceTrace& m_trace;
    std::vector<std::uint64_t> m_addresses; // sorted
    std::vector<bool> m_followed; // by row of blocks of the trace
    LiveExtents m_live;
};

/// Finds the blocks of listings as events pass.
class Placing {
public:
    Placing(const DeviceTrace& trace, const RoleListings::Rows& rows, std::vector<Placed>& placed)
        : m_trace(trace)
        , m_rows(rows)
        , m_placed(placed)
        , m_blocks(trace, addressesOf(rows))
    {
    }

    void take(std::uint32_t row)
    {
        const RoleListing& listing = m_rows[row];
        if (listing.kind == Kind::Stepped) {
            sayAgain(listing);
            return;
        }
        const Key key{ listing.kind, listing.name, listing.part, listing.optimizer };
        const auto [known, isNew] = m_standing.try_emplace(key, 0);
        if (isNew) {
            known->second = static_cast<std::uint32_t>(m_of.size());
            m_of.push_back({});
        }
        Standing& standing = m_of[known->second];
        standing.row = row;
        ++standing.version;
        if (listing.address != 0)
            place(known->second);
    }
    void pass(EventIndex event) { m_blocks.pass(event); }

private:
    using Key = std::tuple<Kind, StringId, StringId, std::uint32_t>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const
        {
            const auto& [kind, name, part, optimizer] = key;
            std::uint64_t h = (std::uint64_t{ name.value } << 32 | part.value) * 0x9e3779b97f4a7c15ULL;
            h ^= (std::uint64_t{ optimizer } << 8 | static_cast<std::uint64_t>(kind)) * 0xc2b2ae3d27d4eb4fULL;
            return static_cast<std::size_t>(h ^ (h >> 29));
        }
    };
    struct Standing {
        std::uint32_t row = 0;
        std::uint32_t version = 0; // how often it was replaced
    };
    /// A standing row whose block dies: to be looked for again by the next Stepped after that.
    struct Dying {
        EventIndex death;
        std::uint32_t standing, version;
        friend bool operator>(const Dying& a, const Dying& b) { return a.death > b.death; }
    };
    using Heap = std::priority_queue<Dying, std::vector<Dying>, std::greater<>>;

    static std::vector<std::uint64_t> addressesOf(const RoleListings::Rows& rows)
    {
        std::vector<std::uint64_t> addresses;
        for (const RoleListing& row : rows)
            if (row.kind != Kind::Stepped && row.address != 0)
                addresses.push_back(row.address);
        return addresses;
    }

    /// A row that lies in no block is given up until it is replaced.
    void place(std::uint32_t number)
    {
        const Standing& standing = m_of[number];
        const RoleListing& listing = m_rows[standing.row];
        const BlockId block = m_blocks.at(listing.address);
        if (!block.valid())
            return;
        m_placed.push_back({ block, standing.row });
        if (const EventIndex death = m_trace.blocks().death(block); death != BlockColumns::kNever)
            m_dying[listing.optimizer].push({ death, number, standing.version });
    }

    void sayAgain(const RoleListing& stepped)
    {
        const auto found = m_dying.find(stepped.optimizer);
        if (found == m_dying.end())
            return;
        Heap& dying = found->second;
        const std::int64_t most
            = kMostSaidAnEvent * (std::min(stepped.event, m_trace.eventCount()) + std::ssize(m_of));
        while (!dying.empty() && dying.top().death < stepped.event && m_said < most) {
            const Dying top = dying.top();
            dying.pop();
            ++m_said;
            if (m_of[top.standing].version == top.version)
                place(top.standing);
        }
    }

    const DeviceTrace& m_trace;
    const RoleListings::Rows& m_rows;
    std::vector<Placed>& m_placed;
    Followed m_blocks;
    boost::unordered_flat_map<Key, std::uint32_t, KeyHash> m_standing;
    std::vector<Standing> m_of;
    std::int64_t m_said = 0; // again, of all
    boost::unordered_flat_map<std::uint32_t, Heap> m_dying; // by optimizer
};

/// Rows in the order of their events: as they were told, unless a file is damaged.
std::vector<std::uint32_t> inOrder(const RoleListings::Rows& rows)
{
    std::vector<std::uint32_t> order(rows.size());
    for (std::uint32_t row = 0; row < order.size(); ++row)
        order[row] = row;
    const auto eventOf = [&](std::uint32_t row) { return rows[row].event; };
    if (!std::ranges::is_sorted(order, {}, eventOf))
        std::ranges::stable_sort(order, {}, eventOf);
    return order;
}

} // namespace

const RoleListings::Rows ListedTensors::kNone;

Result<ListedTensors> ListedTensors::of(const DeviceTrace& trace, const Progress& progress)
{
    ListedTensors listed;
    listed.m_rows = &RoleListings::of(trace.recording(), trace.device());
    const RoleListings::Rows& rows = *listed.m_rows;
    if (rows.empty())
        return listed;
    constexpr EventIndex kLooks = 1 << 18;
    Placing placing(trace, rows, listed.m_placed);
    const std::vector<std::uint32_t> order = inOrder(rows);
    std::size_t next = 0;
    for (EventIndex event = 0; next < order.size(); ++event) {
        if (event % kLooks == 0 && progress.cancelled())
            return fail(Error::Kind::Cancelled, say("cancelled"));
        for (; next < order.size() && (rows[order[next]].event <= event || event >= trace.eventCount());
             ++next) {
            const RoleListing& row = rows[order[next]];
            placing.take(order[next]);
            if (row.kind == Kind::Stepped) {
                listed.m_kinds |= 1U << static_cast<unsigned>(Kind::Stepped);
                listed.m_lastStepped = std::max(listed.m_lastStepped, row.event);
            }
        }
        if (event < trace.eventCount())
            placing.pass(event);
    }
    std::ranges::stable_sort(listed.m_placed, {}, &Placed::block);
    const auto twice = std::ranges::unique(listed.m_placed,
        [](const Placed& a, const Placed& b) { return a.block == b.block && a.row == b.row; });
    listed.m_placed.erase(twice.begin(), twice.end());
    for (const Placed& placed : listed.m_placed)
        listed.m_kinds |= 1U << static_cast<unsigned>(listed.listing(placed).kind);
    return listed;
}

std::span<const ListedTensors::Placed> ListedTensors::in(BlockId block) const
{
    const auto found = std::ranges::equal_range(m_placed, block, {}, &Placed::block);
    return { found.begin(), found.end() };
}

} // namespace strata::model
