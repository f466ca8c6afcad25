// SPDX-License-Identifier: GPL-3.0-or-later
// How the allocator gives cached memory back: garbage collection, what a request needs, all of it.
#include "model/replay/caching_allocator.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace strata::model {

namespace {

bool hasWholePage(const ReplayBlock& block)
{
    const std::int64_t page = block.range->pageBytes;
    const auto begin = static_cast<std::int64_t>(block.address - block.range->address);
    return (begin + page - 1) / page * page < (begin + block.bytes) / page * page;
}

} // namespace

void CachingAllocator::emptyCache(PoolOwner only)
{
    releaseCached(only);
}

bool CachingAllocator::hasReleasable() const
{
    return std::ranges::any_of(std::array{ m_small.get(), m_large.get() }, [](const BlockPool* pool) {
        return std::ranges::any_of(pool->free, [](const ReplayBlock& block) {
            return block.range != nullptr ? hasWholePage(block) : block.isWholeSegment();
        });
    });
}

// release_block()
void CachingAllocator::releaseSegment(ReplayBlock& block)
{
    ++m_deviceFrees;
    m_driver->freeSegment(block);
    m_reserved -= block.bytes;
    if (block.pool->owner != nullptr)
        --block.pool->owner->segments;
    block.pool->remove(block);
    m_arena.recycle(block);
}

// release_blocks()
void CachingAllocator::releaseBlocksOf(BlockPool& pool)
{
    std::vector<ReplayBlock*> expandable;
    for (auto it = pool.free.begin(); it != pool.free.end();) {
        if (it->range != nullptr)
            expandable.push_back(&*it);
        if (it->range != nullptr || !it->isWholeSegment()) {
            ++it;
            continue;
        }
        ReplayBlock& block = it->order < 0 ? m_driver->chooseOfUnknownOrder(*it) : *it;
        if (&block == &*it)
            ++it;
        releaseSegment(block);
    }
    for (ReplayBlock* block : expandable) {
        unmapWhatCan(*block);
        if (block->mapped || !block->isWholeSegment())
            continue;
        pool.unmapped.erase(pool.unmapped.iterator_to(*block));
        const AddressRange* range = block->range;
        m_driver->releaseRange(*range);
        m_arena.recycle(*block);
        std::erase_if(m_ranges, [&](const auto& known) { return known.get() == range; });
    }
}

// release_cached_blocks()
void CachingAllocator::releaseCached(PoolOwner only)
{
    if (only.isDefault() && !keepsCached()) {
        m_driver->synchronize(*this, {});
        releaseBlocksOf(*m_large);
        releaseBlocksOf(*m_small);
    }
    for (const auto& pool : m_private)
        if (pool->freeable && (only.isDefault() || pool->name == only)) {
            if (!only.isDefault())
                m_driver->synchronize(*this, only);
            releaseBlocksOf(pool->small);
            releaseBlocksOf(pool->large);
        }
    std::erase_if(m_private, [](const auto& pool) {
        return pool->freeable && pool->segments == 0 && pool->small.free.empty() && pool->large.free.empty()
            && pool->small.unmapped.empty() && pool->large.unmapped.empty();
    });
}

// release_available_cached_blocks(): of oversize blocks, as few as the request needs.
bool CachingAllocator::releaseAvailable(BlockPool& pool, std::uint64_t stream, std::int64_t rounded)
{
    if (m_settings.maxSplitBytes == AllocatorSettings::kUnlimited)
        return false;
    const std::int64_t wanted = std::max(rounded, m_settings.maxSplitBytes);
    auto it = pool.free.lower_bound(BySize::Key{ stream, wanted }, BySize{});
    if (it != pool.free.end() && it->stream == stream) {
        if (it->range != nullptr)
            return false;
        releaseSegment(it->order < 0 ? m_driver->chooseOfUnknownOrder(*it) : *it);
        return true;
    }
    std::int64_t released = 0;
    while (it != pool.free.begin() && released < wanted) {
        --it;
        if (it->bytes < m_settings.maxSplitBytes || it->stream != stream || it->range != nullptr)
            break;
        released += it->bytes;
        const auto behind = std::next(it);
        releaseSegment(it->order < 0 ? m_driver->chooseLastOfUnknownOrder(*it) : *it);
        it = behind;
    }
    return released >= wanted;
}

// garbage_collect_cached_blocks(): whole segments that were not used for longer than the mean, again and
// again until enough is free.
void CachingAllocator::collectGarbage()
{
    const auto threshold = static_cast<std::int64_t>(
        m_settings.garbageCollectionThreshold * static_cast<double>(*m_allowedBytes));
    if (m_reserved <= threshold)
        return;
    const std::int64_t target = m_reserved - threshold;
    BlockPool& pool = *m_large;
    const auto ageOf = [&](const ReplayBlock& block) { return pool.searches - block.callsWhenFreed; };
    std::int64_t ages = 0, count = 0;
    for (const ReplayBlock& block : pool.free)
        if (block.isWholeSegment()) { // expandable ones count, too
            ages += ageOf(block);
            ++count;
        }
    std::int64_t freed = 0;
    for (bool any = true; freed < target && any && count > 0;) {
        const double mean = static_cast<double>(ages) / static_cast<double>(count);
        any = false;
        for (auto it = pool.free.begin(); it != pool.free.end();) {
            ReplayBlock& block = *it++;
            if (!block.isWholeSegment() || block.range != nullptr || static_cast<double>(ageOf(block)) < mean)
                continue;
            any = true;
            freed += block.bytes;
            ages -= ageOf(block);
            --count;
            releaseSegment(block);
        }
    }
}

} // namespace strata::model
