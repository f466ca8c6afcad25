// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/replayed_events.h"

#include <algorithm>

namespace strata::model {

namespace {

PoolOwner ownerOf(const ReplayBlock& block)
{
    return block.pool != nullptr && block.pool->owner != nullptr ? block.pool->owner->name : PoolOwner{};
}

} // namespace

void TellingDriver::add(
    Action action, std::uint64_t address, std::int64_t bytes, std::uint64_t stream, PoolOwner pool)
{
    m_told.events.push_back({ action, address, bytes, stream, pool, m_event });
}

void TellingDriver::tell(Action action, const ReplayBlock& block, std::int64_t requested)
{
    add(action, block.address, requested, block.stream, ownerOf(block));
    m_told.events.back().block = block.tag;
}

void TellingDriver::tellRefused(std::int64_t roundedBytes, std::uint64_t stream)
{
    add(Action::Oom, static_cast<std::uint64_t>(m_driver.leftBytes()), roundedBytes, stream, m_pool);
}

void TellingDriver::tellEnd(CachingAllocator& allocator)
{
    allocator.forEachBlock([&](ReplayBlock& block) {
        if (block.mapped)
            m_told.end.push_back({ block.address, block.bytes, block.segment, block.stream, ownerOf(block),
                block.pool != nullptr && block.pool->small, block.range != nullptr, block.allocated,
                block.pending, block.tag });
    });
    std::ranges::sort(m_told.end, {}, &ReplayedEvents::Piece::address);
}

std::optional<std::uint64_t> TellingDriver::makeSegment(std::int64_t bytes, std::uint64_t stream)
{
    const auto address = m_driver.makeSegment(bytes, stream);
    if (address)
        add(Action::SegmentAlloc, *address, bytes, stream, m_pool);
    return address;
}

void TellingDriver::freeSegment(const ReplayBlock& segment)
{
    add(Action::SegmentFree, segment.address, segment.bytes, segment.stream, ownerOf(segment));
    m_driver.freeSegment(segment);
}

AddressRange TellingDriver::reserveRange(std::int64_t pageBytes, std::uint64_t stream)
{
    return m_driver.reserveRange(pageBytes, stream);
}

void TellingDriver::releaseRange(const AddressRange& range)
{
    m_driver.releaseRange(range);
}

bool TellingDriver::map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    const bool mapped = m_driver.map(address, bytes, stream);
    if (mapped)
        add(Action::SegmentMap, address, bytes, stream, m_pool);
    return mapped;
}

void TellingDriver::unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    add(Action::SegmentUnmap, address, bytes, stream, m_pool);
    m_driver.unmap(address, bytes, stream);
}

void TellingDriver::synchronize(CachingAllocator& allocator, PoolOwner only)
{
    // What waits for other streams is completed at once.
    std::vector<const ReplayBlock*> pending;
    allocator.forEachBlock([&](ReplayBlock& block) {
        if (block.pending)
            pending.push_back(&block);
    });
    std::vector<ReplayedEvents::Event> freed;
    for (const ReplayBlock* const block : pending)
        freed.push_back({ Action::FreeCompleted, block->address, 0, block->stream, ownerOf(*block), m_event,
            block->tag });
    m_driver.synchronize(allocator, only);
    for (std::size_t i = 0; i < pending.size(); ++i)
        if (pending[i]->pool == nullptr || !pending[i]->pending)
            m_told.events.push_back(freed[i]);
}

} // namespace strata::model
