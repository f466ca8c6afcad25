// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/device_segments.h"

namespace strata::model {

DeviceSegments DeviceSegments::clone(AllocatorDriver& driver, std::span<const TwinPool> pools) const
{
    DeviceSegments copy(driver, m_version);
    copy.m_arena = m_arena.sameShape();
    copy.m_reserved = m_reserved;
    copy.m_reservedPeak = m_reservedPeak;
    copy.m_deviceMallocs = m_deviceMallocs;
    copy.m_deviceFrees = m_deviceFrees;
    copy.m_orders = m_orders;
    copy.m_hasChoiceOfRanges = m_hasChoiceOfRanges;
    std::vector<std::pair<const AddressRange*, AddressRange*>> ranges;
    for (const auto& range : m_ranges)
        ranges.emplace_back(range.get(), &copy.addRange(*range));
    std::ranges::sort(ranges);

    const auto twinOf = [&](const ReplayBlock* block) {
        return block != nullptr ? &copy.m_arena.at(block->slot) : nullptr;
    };
    for (std::uint32_t slot = 0; slot < m_arena.slots(); ++slot) {
        const ReplayBlock& block = m_arena.at(slot);
        if (block.pool == nullptr)
            continue;
        ReplayBlock& twin = copy.m_arena.at(slot);
        twin = block; // a hook that is copied is linked nowhere
        twin.previous = twinOf(block.previous);
        twin.next = twinOf(block.next);
        twin.pool = std::ranges::find(pools, block.pool, &TwinPool::first)->second;
        if (block.range != nullptr)
            twin.range = std::ranges::lower_bound(
                ranges, block.range, {}, &std::pair<const AddressRange*, AddressRange*>::first)
                             ->second;
    }
    for (const auto& [from, to] : pools) {
        to->searches = from->searches;
        for (const ReplayBlock& block : from->free)
            to->free.push_back(*twinOf(&block));
        for (const ReplayBlock& block : from->unmapped)
            to->unmapped.push_back(*twinOf(&block));
    }
    return copy;
}

ReplayBlock* DeviceSegments::make(BlockPool& pool, std::uint64_t stream, std::int64_t bytes)
{
    const auto address = m_driver->makeSegment(bytes, stream);
    if (!address)
        return nullptr;
    ReplayBlock& block = place(pool, stream, *address, bytes);
    block.order = nextOrder();
    addReserved(bytes);
    ++m_deviceMallocs;
    return &block;
}

// release_block()
void DeviceSegments::free(ReplayBlock& segment)
{
    ++m_deviceFrees;
    m_driver->freeSegment(segment);
    m_reserved -= segment.bytes;
    segment.pool->remove(segment);
    m_arena.recycle(segment);
}

void DeviceSegments::unmap(ReplayBlock& block)
{
    unmapPages(block);
    if (block.mapped || !block.isWholeSegment())
        return;
    block.pool->unmapped.erase(block.pool->unmapped.iterator_to(block));
    const AddressRange* range = block.range;
    m_driver->releaseRange(*range);
    m_arena.recycle(block);
    std::erase_if(m_ranges, [&](const auto& known) { return known.get() == range; });
}

// find_expandable_block(): the first place from which free and unmapped blocks in a row hold the request.
ReplayBlock* DeviceSegments::findExpandable(
    BlockPool& pool, std::uint64_t stream, std::int64_t rounded, std::int64_t pageBytes)
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
    const AddressRange reserved = m_driver->reserveRange(pageBytes, stream);
    if (reserved.bytes < rounded && m_version >= TorchVersion{ 2, 15 }) {
        m_driver->releaseRange(reserved);
        return nullptr;
    }
    m_hasChoiceOfRanges = m_hasChoiceOfRanges
        || std::ranges::any_of(
            pool.unmapped, [&](const ReplayBlock& other) { return other.stream == stream; });
    AddressRange& range = addRange(reserved);
    ReplayBlock& block = place(pool, stream, range.address, range.bytes);
    block.range = &range;
    block.mapped = false;
    block.order = nextOrder();
    pool.unmapped.insert(block);
    return &block;
}

// try_allocate_expandable_block()
ReplayBlock* DeviceSegments::makeExpandable(
    BlockPool& pool, std::uint64_t stream, std::int64_t rounded, std::int64_t pageBytes)
{
    ReplayBlock* block = findExpandable(pool, stream, rounded, pageBytes);
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
ReplayBlock* DeviceSegments::mapFront(ReplayBlock& block, std::int64_t bytes)
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
        ReplayBlock& rest
            = partOf(block, block.address + static_cast<std::uint64_t>(pages), block.bytes - pages);
        rest.mapped = false;
        putBehind(block, rest);
        block.bytes = pages;
        pool.unmapped.insert(rest);
    }
    merge(block, block.previous);
    merge(block, block.next);
    pool.insert(block);
    addReserved(pages);
    ++m_deviceMallocs;
    return &block;
}

// unmap_block(): the whole pages within a free block.
void DeviceSegments::unmapPages(ReplayBlock& block)
{
    const std::uint64_t base = block.range->address;
    const auto begin = static_cast<std::int64_t>(block.address - base);
    const auto [first, last] = wholePages(block);
    if (first >= last)
        return;
    BlockPool& pool = *block.pool;
    pool.remove(block);
    if (first > begin) {
        ReplayBlock& before = partOf(block, block.address, first - begin);
        pool.insert(before);
        putBefore(block, before);
    }
    if (const std::int64_t behind = begin + block.bytes - last; behind > 0) {
        ReplayBlock& after = partOf(block, base + static_cast<std::uint64_t>(last), behind);
        pool.insert(after);
        putBehind(block, after);
    }
    block.address = base + static_cast<std::uint64_t>(first);
    block.bytes = last - first;
    block.mapped = false;
    m_reserved -= block.bytes;
    ++m_deviceFrees;
    m_driver->unmap(block.address, block.bytes, block.stream);
    merge(block, block.previous);
    merge(block, block.next);
    pool.unmapped.insert(block);
}

} // namespace strata::model
