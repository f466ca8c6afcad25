// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/caching_allocator.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace strata::model {

namespace {

/// What an expandable segment could grow to from `block` on without a new one.
std::int64_t roomOf(const ReplayBlock& block)
{
    return block.bytes + (block.next != nullptr && !block.next->mapped ? block.next->bytes : 0);
}

} // namespace

CachingAllocator::CachingAllocator(
    const AllocatorSettings& settings, AllocatorDriver& driver, std::int64_t deviceBytes)
    : m_settings(settings)
    , m_driver(&driver)
    , m_deviceBytes(deviceBytes)
    , m_segments(driver, settings.version)
    , m_small(std::make_unique<BlockPool>())
    , m_large(std::make_unique<BlockPool>())
{
    m_small->small = true;
    if (settings.memoryFraction)
        setMemoryFraction(*settings.memoryFraction);
}

void CachingAllocator::setSettings(const AllocatorSettings& settings)
{
    m_settings = settings; // the memory fraction counts where the allocator is made
}

void CachingAllocator::setMemoryFraction(double fraction)
{
    if (m_deviceBytes == 0)
        return;
    // Up to 2.9 any fraction limits, from 2.10 on only one below 1.
    if (m_settings.version < TorchVersion{ 2, 10 } || fraction < 1)
        m_allowedBytes = static_cast<std::int64_t>(fraction * static_cast<double>(m_deviceBytes));
    else
        m_allowedBytes.reset();
}

PrivatePool& CachingAllocator::privatePool(PoolOwner name)
{
    const auto known = std::ranges::find(m_private, name, [](const auto& pool) { return pool->name; });
    if (known != m_private.end())
        return **known;
    PrivatePool& made = *m_private.emplace_back(std::make_unique<PrivatePool>());
    made.name = name;
    made.small.small = true;
    made.small.owner = made.large.owner = &made;
    return made;
}

BlockPool& CachingAllocator::poolOf(std::int64_t rounded, PoolOwner name)
{
    const bool small = rounded <= AllocatorSettings::kSmallSize;
    if (name.isDefault()) [[likely]]
        return small ? *m_small : *m_large;
    PrivatePool& pool = privatePool(name);
    pool.freeable = false; // in use again
    return small ? pool.small : pool.large;
}

const BlockPool* CachingAllocator::findPool(std::int64_t rounded, PoolOwner name) const
{
    const bool small = rounded <= AllocatorSettings::kSmallSize;
    if (name.isDefault())
        return small ? m_small.get() : m_large.get();
    const auto known = std::ranges::find(m_private, name, [](const auto& pool) { return pool->name; });
    if (known == m_private.end())
        return nullptr;
    return small ? &(*known)->small : &(*known)->large;
}

void CachingAllocator::releasePool(PoolOwner name)
{
    privatePool(name).freeable = true;
}

void CachingAllocator::addSegmentOf(PoolOwner name)
{
    if (!name.isDefault())
        ++privatePool(name).segments;
}

// get_free_block()
ReplayBlock* CachingAllocator::find(const BlockPool& pool, std::uint64_t stream, std::int64_t rounded) const
{
    const auto end = pool.free.end();
    auto it = pool.free.lower_bound(BySize::Key{ stream, rounded }, BySize{});
    if (it == end || it->stream != stream)
        return nullptr;
    if (it->range != nullptr) {
        if (m_settings.expandableSegments) { // the fullest range of those whose blocks fit alike
            for (auto next = std::next(it);
                 it->range != nullptr && next != end && next->stream == stream && roomOf(*next) < roomOf(*it);
                 ++next)
                it = next;
        } else {
            do {
                ++it;
            } while (it != end && it->range != nullptr && it->stream == stream);
            if (it == end || it->stream != stream)
                return nullptr;
        }
    }
    if (rounded < m_settings.maxSplitBytes && it->bytes >= m_settings.maxSplitBytes)
        return nullptr;
    if (rounded >= m_settings.maxSplitBytes && it->bytes >= rounded + m_settings.maxNonSplitRoundingBytes)
        return nullptr;
    return const_cast<ReplayBlock*>(&*it); // of a set of ours, which is no more const than we are
}

ReplayBlock* CachingAllocator::take(BlockPool& pool, std::uint64_t stream, std::int64_t rounded)
{
    if (collects())
        ++pool.searches;
    ReplayBlock* block = find(pool, stream, rounded);
    if (block == nullptr)
        return nullptr;
    if (block->order < 0) [[unlikely]]
        block = &m_driver->chooseOfUnknownOrder(*block);
    else if (block->order == 0 && !hasChosenByAddress())
        noteChoice(pool, *block);
    pool.remove(*block);
    return block;
}

// Within a segment the order of blocks does not depend on where it lies.
void CachingAllocator::noteChoice(const BlockPool& pool, const ReplayBlock& taken)
{
    for (auto other = std::next(pool.free.iterator_to(taken));
         other != pool.free.end() && other->bytes == taken.bytes && other->stream == taken.stream; ++other)
        if (other->segment != taken.segment) {
            m_choseByAddress = true;
            return;
        }
}

const ReplayBlock* CachingAllocator::wouldFind(
    std::int64_t requested, std::uint64_t stream, PoolOwner name) const
{
    const std::int64_t rounded = m_settings.roundedBytes(requested);
    const BlockPool* pool = findPool(rounded, name);
    return pool != nullptr ? find(*pool, stream, rounded) : nullptr;
}

bool CachingAllocator::wouldFitWhenFreed(
    const ReplayBlock& block, std::int64_t requested, std::uint64_t stream, PoolOwner name) const
{
    const std::int64_t rounded = m_settings.roundedBytes(requested);
    if (block.pool != findPool(rounded, name) || block.stream != stream)
        return false;
    std::int64_t bytes = block.bytes;
    for (const ReplayBlock* neighbour : { block.previous, block.next })
        if (neighbour != nullptr && neighbour->isFree() && neighbour->mapped)
            bytes += neighbour->bytes;
    if (bytes < rounded || (rounded < m_settings.maxSplitBytes && bytes >= m_settings.maxSplitBytes))
        return false;
    return rounded < m_settings.maxSplitBytes || bytes < rounded + m_settings.maxNonSplitRoundingBytes;
}

ReplayBlock* CachingAllocator::allocate(std::int64_t requested, std::uint64_t stream, PoolOwner name)
{
    const std::int64_t rounded = m_settings.roundedBytes(requested);
    BlockPool& pool = poolOf(rounded, name);
    ReplayBlock* block = take(pool, stream, rounded);
    if (block == nullptr)
        block = obtain(pool, stream, rounded);
    if (block == nullptr)
        return nullptr;
    splitIfWorth(block, rounded);
    block->allocated = true;
    m_allocated += block->bytes;
    m_active += block->bytes;
    return block;
}

// The chain of malloc() where nothing that is cached fits.
ReplayBlock* CachingAllocator::obtain(BlockPool& pool, std::uint64_t stream, std::int64_t rounded)
{
    if (collects())
        collectGarbage();
    const std::int64_t rejections = m_rejections;
    if (ReplayBlock* made = makeBlock(pool, stream, rounded))
        return made;
    if (m_rejections != rejections)
        return nullptr; // the first attempt alone is rejected ahead of all retries
    if (releaseAvailable(pool, stream, rounded))
        if (ReplayBlock* made = makeBlock(pool, stream, rounded))
            return made;
    if (keepsCached())
        return nullptr;
    releaseCached();
    return makeBlock(pool, stream, rounded);
}

// throw_on_cudamalloc_oom: more than the fraction that the settings name, now, of the device. What
// set_per_process_memory_fraction() allows is held first, with all retries.
bool CachingAllocator::rejects(std::int64_t segmentBytes) const
{
    if (!m_settings.rejectsAboveFraction || m_deviceBytes == 0)
        return false;
    const double limit = m_settings.memoryFraction.value_or(1) * static_cast<double>(m_deviceBytes);
    return m_segments.reservedBytes() + segmentBytes > static_cast<std::int64_t>(limit);
}

bool CachingAllocator::isExpandable(const BlockPool& pool) const
{
    // Private pools have them from 2.5 on.
    return m_settings.expandableSegments
        && (pool.owner == nullptr || m_settings.version >= TorchVersion{ 2, 5 });
}

// alloc_block()
ReplayBlock* CachingAllocator::makeBlock(BlockPool& pool, std::uint64_t stream, std::int64_t rounded)
{
    const std::int64_t bytes = m_settings.segmentBytes(rounded);
    if (m_allowedBytes && m_segments.reservedBytes() + bytes > *m_allowedBytes)
        return nullptr;
    if (rejects(bytes)) [[unlikely]] {
        ++m_rejections;
        return nullptr;
    }
    ReplayBlock* const block = isExpandable(pool)
        ? m_segments.makeExpandable(pool, stream, rounded, m_settings.pageBytes(pool.small))
        : m_segments.make(pool, stream, bytes);
    if (block != nullptr && pool.owner != nullptr)
        ++pool.owner->segments;
    return block;
}

void CachingAllocator::splitIfWorth(ReplayBlock*& block, std::int64_t rounded)
{
    const std::int64_t remaining = block->bytes - rounded;
    const bool worth = block->pool->small || m_settings.expandableSegments
        ? remaining >= AllocatorSettings::kMinBlock
        : rounded < m_settings.maxSplitBytes && remaining > AllocatorSettings::kSmallSize;
    if (worth)
        block = &m_segments.cutFront(*block, rounded);
}

bool CachingAllocator::hasReleasable() const
{
    return std::ranges::any_of(std::array{ m_small.get(), m_large.get() }, [](const BlockPool* pool) {
        return std::ranges::any_of(pool->free, [](const ReplayBlock& block) {
            return block.range != nullptr ? DeviceSegments::canUnmap(block) : block.isWholeSegment();
        });
    });
}

void CachingAllocator::releaseSegment(ReplayBlock& block)
{
    if (block.pool->owner != nullptr)
        --block.pool->owner->segments;
    m_segments.free(block);
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
    for (ReplayBlock* block : expandable)
        m_segments.unmap(*block);
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
    if (reservedBytes() <= threshold)
        return;
    const std::int64_t target = reservedBytes() - threshold;
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

void CachingAllocator::requestFree(ReplayBlock& block)
{
    block.allocated = false;
    block.pending = true;
    block.capture = m_capturing ? m_capture : 0;
    m_allocated -= block.bytes;
    ++m_pendingBlocks;
}

// free_block()
void CachingAllocator::completeFree(ReplayBlock& block)
{
    block.pending = false;
    m_active -= block.bytes;
    --m_pendingBlocks;
    m_segments.merge(block, block.previous);
    m_segments.merge(block, block.next);
    block.pool->insert(block);
}

void CachingAllocator::completePending(PoolOwner only)
{
    const auto isConcerned = [&](const ReplayBlock& block) {
        return block.pool != nullptr && block.pending && !(m_capturing && block.capture == m_capture)
            && (only.isDefault() || (block.pool->owner != nullptr && block.pool->owner->name == only));
    };
    for (std::uint32_t slot = 0; m_pendingBlocks > 0 && slot < m_segments.blocks().slots(); ++slot)
        if (ReplayBlock& block = m_segments.blocks().at(slot); isConcerned(block))
            completeFree(block);
}

void CachingAllocator::forEachBlock(const std::function<void(ReplayBlock&)>& visit)
{
    for (std::uint32_t slot = 0; slot < m_segments.blocks().slots(); ++slot)
        if (ReplayBlock& block = m_segments.blocks().at(slot); block.pool != nullptr)
            visit(block);
}

ReplayBlock& CachingAllocator::addPiece(const Piece& piece, ReplayBlock* previous, std::uint64_t stream,
    PoolOwner name, bool small, AddressRange* range)
{
    BlockPool& pool = poolOf(small ? 1 : AllocatorSettings::kSmallSize + 1, name);
    ReplayBlock& block = m_segments.place(pool, stream, piece.address, piece.bytes);
    if (range != nullptr)
        block.segment = range->address;
    else if (previous != nullptr)
        block.segment = previous->segment;
    block.range = range;
    block.order = piece.order;
    block.mapped = piece.mapped;
    block.allocated = piece.allocated;
    block.pending = piece.pending;
    block.previous = previous;
    if (previous != nullptr)
        previous->next = &block;
    if (!piece.mapped) {
        pool.unmapped.insert(block);
        return block;
    }
    m_segments.addReserved(piece.bytes);
    if (piece.allocated)
        m_allocated += piece.bytes;
    if (piece.allocated || piece.pending)
        m_active += piece.bytes;
    else
        pool.insert(block);
    m_pendingBlocks += piece.pending ? 1 : 0;
    return block;
}

CachingAllocator CachingAllocator::clone(AllocatorDriver& driver) const
{
    CachingAllocator copy(m_settings, driver, m_deviceBytes);
    copy.m_allowedBytes = m_allowedBytes;
    copy.m_allocated = m_allocated;
    copy.m_active = m_active;
    copy.m_pendingBlocks = m_pendingBlocks;
    copy.m_rejections = m_rejections;
    copy.m_capturing = m_capturing;
    copy.m_choseByAddress = m_choseByAddress;
    copy.m_capture = m_capture;
    std::vector<DeviceSegments::TwinPool> pools{ { m_small.get(), copy.m_small.get() },
        { m_large.get(), copy.m_large.get() } };
    for (const auto& pool : m_private) {
        PrivatePool& made = copy.privatePool(pool->name);
        made.segments = pool->segments;
        made.freeable = pool->freeable;
        pools.emplace_back(&pool->small, &made.small);
        pools.emplace_back(&pool->large, &made.large);
    }
    copy.m_segments = m_segments.clone(driver, pools);
    return copy;
}

} // namespace strata::model
