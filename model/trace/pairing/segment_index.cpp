// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/segment_index.h"

#include <algorithm>
#include <limits>

namespace strata::model {
namespace {

EventIndex birthOf(const SegmentLife& life)
{
    return life.alloc.valid() ? static_cast<EventIndex>(life.alloc.value) : -1;
}

EventIndex deathOf(const SegmentLife& life)
{
    return life.free.valid() ? static_cast<EventIndex>(life.free.value)
                             : std::numeric_limits<EventIndex>::max();
}

std::size_t leafOf(const std::vector<EventIndex>& instants, EventIndex at)
{
    return static_cast<std::size_t>(
        std::upper_bound(instants.begin(), instants.end(), at) - instants.begin());
}

/// Calls node(i) for the nodes whose times make up [from, to), in a tree with `leaves` leaves; node 1 is the
/// root.
template <class Node> void forNodes(std::size_t from, std::size_t to, std::size_t leaves, Node&& node)
{
    for (from += leaves, to += leaves; from < to; from /= 2, to /= 2) {
        if (from % 2 == 1)
            node(from++);
        if (to % 2 == 1)
            node(--to);
    }
}

} // namespace

SegmentIndex::SegmentIndex(const SegmentLives::Rows& lives, std::span<const std::uint32_t> rows)
{
    m_instants.reserve(2 * rows.size());
    for (const std::uint32_t row : rows) {
        m_instants.push_back(birthOf(lives[row]));
        m_instants.push_back(deathOf(lives[row]));
    }
    std::sort(m_instants.begin(), m_instants.end());
    m_instants.erase(std::unique(m_instants.begin(), m_instants.end()), m_instants.end());
    m_instants.shrink_to_fit();

    const std::size_t leaves = m_instants.size() + 1;
    const auto forNodesOf = [&](std::uint32_t row, auto&& node) {
        forNodes(
            leafOf(m_instants, birthOf(lives[row])), leafOf(m_instants, deathOf(lives[row])), leaves, node);
    };
    m_firstEntry.assign(2 * leaves + 1, 0);
    for (const std::uint32_t row : rows)
        forNodesOf(row, [&](std::size_t node) { ++m_firstEntry[node + 1]; });
    for (std::size_t node = 1; node < m_firstEntry.size(); ++node)
        m_firstEntry[node] += m_firstEntry[node - 1];
    m_entries.resize(m_firstEntry.back());
    std::vector<std::uint32_t> next(m_firstEntry.begin(), m_firstEntry.end() - 1);
    for (const std::uint32_t row : rows)
        forNodesOf(row, [&](std::size_t node) { m_entries[next[node]++] = row; });

    std::vector<std::uint32_t> reach = m_entries;
    bool overlaps = false;
    for (std::size_t node = 0; node + 1 < m_firstEntry.size(); ++node) {
        for (std::size_t i = m_firstEntry[node] + std::size_t{ 1 }; i < m_firstEntry[node + 1]; ++i) {
            const SegmentLife& farthest = lives[reach[i - 1]];
            overlaps = overlaps || farthest.end() > lives[m_entries[i]].address;
            if (farthest.end() > lives[m_entries[i]].end())
                reach[i] = reach[i - 1];
        }
    }
    if (overlaps)
        m_reach = std::move(reach);
}

std::optional<std::uint32_t> SegmentIndex::find(
    const SegmentLives::Rows& lives, std::uint64_t address, EventIndex at) const
{
    std::optional<std::uint32_t> found;
    const auto consider = [&](std::uint32_t row) {
        if (lives[row].end() > address && (!found || isBefore(lives[*found], lives[row])))
            found = row;
    };
    for (std::size_t node = leafOf(m_instants, at) + m_instants.size() + 1; node >= 1; node /= 2) {
        const auto first = m_entries.begin() + m_firstEntry[node];
        const auto end = m_entries.begin() + m_firstEntry[node + 1];
        const auto above = std::upper_bound(first, end, address,
            [&](std::uint64_t wanted, std::uint32_t row) { return wanted < lives[row].address; });
        if (above == first)
            continue;
        const auto entry = static_cast<std::size_t>(std::prev(above) - m_entries.begin());
        consider(m_entries[entry]);
        if (!m_reach.empty())
            consider(m_reach[entry]);
    }
    return found;
}

std::size_t SegmentIndex::bytesResident() const
{
    return m_instants.capacity() * sizeof(EventIndex)
        + (m_firstEntry.capacity() + m_entries.capacity() + m_reach.capacity()) * sizeof(std::uint32_t);
}

} // namespace strata::model
