// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/tensor_placing.h"

#include <algorithm>
#include <iterator>

namespace strata::model {

namespace {

using Kind = wire::RoleKind;

/// Of programs not even one tensor an event is found in a block that was made anew. A file may hold thousands
/// that lie in one block, and have that made anew for each of thousands of steps.
constexpr std::int64_t kMostSaidAnEvent = 4;

std::uint64_t blockEndOf(const DeviceTrace& trace, BlockId block)
{
    const auto bytes
        = static_cast<std::uint64_t>(std::max<std::int64_t>(trace.blocks().requestedBytes[block], 1));
    const std::uint64_t begin = trace.blocks().address[block];
    return begin + std::min(bytes, ~begin);
}

unsigned bitOf(Kind kind)
{
    return 1U << static_cast<unsigned>(kind);
}

} // namespace

bool TensorPlacing::isOver(
    const DeviceTrace& trace, BlockId block, const std::vector<std::uint64_t>& addresses)
{
    const auto next = std::ranges::lower_bound(addresses, trace.blocks().address[block]);
    return next != addresses.end() && *next < blockEndOf(trace, block);
}

void TensorPlacing::prepare(const DeviceTrace& trace, const Rows& rows, std::size_t first)
{
    std::erase_if(m_living, [&](const Living& each) {
        const EventIndex death = trace.blocks().death(each.block);
        if (death != BlockColumns::kNever)
            m_dying[each.optimizer].push({ death, each.standing, each.version });
        return death != BlockColumns::kNever;
    });
    m_followed.resize(trace.blocks().bornCount());
    std::vector<std::uint64_t> listed, added;
    for (std::size_t row = first; row < rows.size(); ++row)
        if (!wire::isStep(rows[row].kind) && rows[row].address != 0)
            listed.push_back(rows[row].address);
    std::ranges::sort(listed);
    listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
    std::ranges::set_difference(listed, m_addresses, std::back_inserter(added));
    if (added.empty())
        return;
    followLiving(trace, added);
    const auto middle = m_addresses.insert(m_addresses.end(), added.begin(), added.end());
    std::inplace_merge(m_addresses.begin(), middle, m_addresses.end());
}

/// Blocks that nothing was listed in, and now is.
void TensorPlacing::followLiving(const DeviceTrace& trace, const std::vector<std::uint64_t>& added)
{
    const BlockColumns& blocks = trace.blocks();
    const auto look = [&](BlockId block) {
        if (blocks.death(block) >= m_event && isOver(trace, block, added)
            && !isOver(trace, block, m_addresses))
            follow(trace, block);
    };
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        look(BlockId::older(row));
    for (std::size_t row = 0; row < blocks.bornCount() && blocks.birth(BlockId::born(row)) < m_event; ++row)
        look(BlockId::born(row));
}

void TensorPlacing::follow(const DeviceTrace& trace, BlockId block)
{
    if (!block.isOlder())
        m_followed[block.row()] = true;
    const std::uint64_t begin = trace.blocks().address[block], end = blockEndOf(trace, block);
    if (begin < end)
        (void)m_live.insert(begin, end, block);
}

void TensorPlacing::passTo(const DeviceTrace& trace, EventIndex event)
{
    while (m_event < event)
        pass(trace);
}

void TensorPlacing::pass(const DeviceTrace& trace)
{
    const EventIndex event = m_event++;
    const auto row = static_cast<std::size_t>(event);
    const EventColumns& events = trace.events();
    const Action action = events.action[row];
    if (action == Action::Alloc) {
        if (const BlockId old = trace.overwrittenAt(event); old.valid())
            m_live.erase(trace.blocks().address[old], old);
        if (const BlockId block = events.block[row]; block.valid() && isOver(trace, block, m_addresses))
            follow(trace, block);
    } else if (action == Action::FreeCompleted) {
        const BlockId block = events.block[row];
        if (block.valid() && (block.isOlder() ? isOver(trace, block, m_addresses) : m_followed[block.row()]))
            m_live.erase(trace.blocks().address[block], block);
    }
}

void TensorPlacing::take(
    const DeviceTrace& trace, const Rows& rows, std::uint32_t row, std::vector<PlacedTensor>& placed)
{
    const RoleListing& listing = rows[row];
    if (listing.kind == Kind::Stepped) {
        m_kinds |= bitOf(Kind::Stepped);
        m_lastStepped = std::max(m_lastStepped, listing.event);
        sayAgain(trace, rows, listing, placed);
        return;
    }
    if (listing.kind == Kind::SteppedUnlisted)
        return;
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
        place(trace, rows, known->second, placed);
}

/// A row that lies in no block is given up until it is replaced.
void TensorPlacing::place(
    const DeviceTrace& trace, const Rows& rows, std::uint32_t number, std::vector<PlacedTensor>& placed)
{
    const Standing& standing = m_of[number];
    const RoleListing& listing = rows[standing.row];
    const BlockId block = m_live.at(listing.address);
    if (!block.valid())
        return;
    placed.push_back({ block, standing.row });
    m_kinds |= bitOf(listing.kind);
    if (const EventIndex death = trace.blocks().death(block); death != BlockColumns::kNever)
        m_dying[listing.optimizer].push({ death, number, standing.version });
    else
        m_living.push_back({ block, number, standing.version, listing.optimizer });
}

void TensorPlacing::sayAgain(
    const DeviceTrace& trace, const Rows& rows, const RoleListing& stepped, std::vector<PlacedTensor>& placed)
{
    const auto found = m_dying.find(stepped.optimizer);
    if (found == m_dying.end())
        return;
    Heap& dying = found->second;
    const std::int64_t most
        = kMostSaidAnEvent * (std::min(stepped.event, trace.eventCount()) + std::ssize(m_of));
    while (!dying.empty() && dying.top().death < stepped.event && m_said < most) {
        const Dying top = dying.top();
        dying.pop();
        ++m_said;
        if (m_of[top.standing].version == top.version)
            place(trace, rows, top.standing, placed);
    }
}

std::size_t TensorPlacing::bytesResident() const
{
    std::size_t dying = 0;
    for (const auto& [optimizer, heap] : m_dying)
        dying += heap.size();
    return m_addresses.capacity() * sizeof(m_addresses[0]) + m_followed.capacity() / 8
        + m_of.capacity() * sizeof(m_of[0]) + m_standing.size() * sizeof(std::pair<Key, std::uint32_t>)
        + m_living.capacity() * sizeof(m_living[0]) + dying * sizeof(Dying);
}

} // namespace strata::model
