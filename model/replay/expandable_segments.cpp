// SPDX-License-Identifier: GPL-3.0-or-later
// Expandable segments: a range of addresses, of which whole pages are mapped from its front on as they are
// needed and unmapped where they are free.
//
//     range  | block | free | block |~~~~~~~~ unmapped ~~~~~~~~|
#include "model/replay/caching_allocator.h"

#include <algorithm>

namespace strata::model {

bool CachingAllocator::isExpandable(const BlockPool& pool) const
{
    // Private pools have them from 2.5 on.
    return m_settings.expandableSegments
        && (pool.owner == nullptr || m_settings.version >= TorchVersion{ 2, 5 });
}

// find_expandable_block(): the first place from which free and unmapped blocks in a row hold the request.
ReplayBlock* CachingAllocator::findExpandable(BlockPool& pool, std::uint64_t stream, std::int64_t rounded)
{
    for (auto it = pool.unmapped.lower_bound(stream, ByPlace{});
         it != pool.unmapped.end() && it->stream == stream; ++it) {
        ReplayBlock* first = &*it;
        if (first->previous != nullptr && first->previous->isFree())
            first = first->previous;
        std::int64_t room = 0;
        for (const ReplayBlock* block = first; room < rounded && block != nullptr && block->isFree();
             block = block->next)
            room += block->bytes;
        if (room >= rounded)
            return first;
    }
    const AddressRange reserved = m_driver->reserveRange(m_settings.pageBytes(pool.small), stream);
    if (reserved.bytes < rounded && m_settings.version >= TorchVersion{ 2, 15 }) {
        m_driver->releaseRange(reserved);
        return nullptr;
    }
    m_choseByAddress = m_choseByAddress || std::ranges::any_of(pool.unmapped, [&](const ReplayBlock& other) {
        return other.stream == stream;
    });
    AddressRange& range = addRange(reserved);
    ReplayBlock& block = m_arena.make();
    block.address = range.address;
    block.segment = range.address;
    block.bytes = range.bytes;
    block.stream = stream;
    block.pool = &pool;
    block.range = &range;
    block.mapped = false;
    block.order = nextOrder();
    pool.unmapped.insert(block);
    return &block;
}

// try_allocate_expandable_block()
ReplayBlock* CachingAllocator::makeExpandable(BlockPool& pool, std::uint64_t stream, std::int64_t rounded)
{
    ReplayBlock* block = findExpandable(pool, stream, rounded);
    if (block == nullptr)
        return nullptr;
    if (!block->mapped) {
        block = mapFront(*block, std::min(block->bytes, rounded));
        if (block == nullptr)
            return nullptr;
    }
    while (block->bytes < rounded) {
        ReplayBlock* next = block->next;
        if (next == nullptr
            || next->mapped) // of a range that was too small for the request: a driver's fault
            return nullptr;
        block = mapFront(*next, std::min(rounded - block->bytes, next->bytes));
        if (block == nullptr)
            return nullptr;
    }
    pool.remove(*block);
    return block;
}

// map_block(): the pages over the first `bytes` of an unmapped block.
ReplayBlock* CachingAllocator::mapFront(ReplayBlock& block, std::int64_t bytes)
{
    const std::int64_t page = block.range->pageBytes;
    const auto offset = static_cast<std::int64_t>(block.address - block.range->address);
    const std::int64_t pages
        = std::min((offset + bytes + page - 1) / page * page - offset / page * page, block.bytes);
    if (!m_driver->map(block.address, pages, block.stream))
        return nullptr;
    BlockPool& pool = *block.pool;
    pool.unmapped.erase(pool.unmapped.iterator_to(block));
    block.mapped = true;
    if (pages < block.bytes) {
        ReplayBlock& rest = m_arena.make();
        rest.address = block.address + static_cast<std::uint64_t>(pages);
        rest.bytes = block.bytes - pages;
        rest.stream = block.stream;
        rest.segment = block.segment;
        rest.pool = &pool;
        rest.range = block.range;
        rest.mapped = false;
        rest.order = orderOfPart(block);
        rest.previous = &block;
        rest.next = block.next;
        if (rest.next != nullptr)
            rest.next->previous = &rest;
        block.next = &rest;
        block.bytes = pages;
        pool.unmapped.insert(rest);
    }
    mergeInto(block, block.previous);
    mergeInto(block, block.next);
    pool.insert(block);
    addReserved(pages);
    ++m_deviceMallocs;
    return &block;
}

// unmap_block(): the whole pages within a free block.
void CachingAllocator::unmapWhatCan(ReplayBlock& block)
{
    const std::int64_t page = block.range->pageBytes;
    const std::uint64_t base = block.range->address;
    const auto begin = static_cast<std::int64_t>(block.address - base);
    const std::int64_t first = (begin + page - 1) / page * page;
    const std::int64_t last = (begin + block.bytes) / page * page;
    if (first >= last)
        return;
    BlockPool& pool = *block.pool;
    pool.remove(block);
    const auto keep = [&](std::uint64_t address, std::int64_t bytes) -> ReplayBlock& {
        ReplayBlock& part = m_arena.make();
        part.address = address;
        part.bytes = bytes;
        part.stream = block.stream;
        part.segment = block.segment;
        part.pool = &pool;
        part.range = block.range;
        part.order = orderOfPart(block);
        pool.insert(part);
        return part;
    };
    if (first > begin) {
        ReplayBlock& before = keep(block.address, first - begin);
        before.previous = block.previous;
        before.next = &block;
        if (before.previous != nullptr)
            before.previous->next = &before;
        block.previous = &before;
    }
    if (const std::int64_t behind = begin + block.bytes - last; behind > 0) {
        ReplayBlock& after = keep(base + static_cast<std::uint64_t>(last), behind);
        after.previous = &block;
        after.next = block.next;
        if (after.next != nullptr)
            after.next->previous = &after;
        block.next = &after;
    }
    block.address = base + static_cast<std::uint64_t>(first);
    block.bytes = last - first;
    block.mapped = false;
    m_reserved -= block.bytes;
    ++m_deviceFrees;
    m_driver->unmap(block.address, block.bytes, block.stream);
    mergeInto(block, block.previous);
    mergeInto(block, block.next);
    pool.unmapped.insert(block);
}

} // namespace strata::model
