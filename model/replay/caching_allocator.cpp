// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/caching_allocator.h"

#include <algorithm>
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

std::int32_t CachingAllocator::nextOrder()
{
    return tieRuleOf(m_settings.version) == TieRule::Address ? 0 : ++m_orders;
}

std::int32_t CachingAllocator::orderOfPart(const ReplayBlock& whole)
{
    return tieRuleOf(m_settings.version) == TieRule::BlockCounter ? nextOrder() : whole.order;
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
    else if (block->order == 0 && !m_choseByAddress)
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
    return m_reserved + segmentBytes > static_cast<std::int64_t>(limit);
}

// alloc_block()
ReplayBlock* CachingAllocator::makeBlock(BlockPool& pool, std::uint64_t stream, std::int64_t rounded)
{
    const std::int64_t bytes = m_settings.segmentBytes(rounded);
    if (m_allowedBytes && m_reserved + bytes > *m_allowedBytes)
        return nullptr;
    if (rejects(bytes)) [[unlikely]] {
        ++m_rejections;
        return nullptr;
    }
    ReplayBlock* block = nullptr;
    if (isExpandable(pool)) {
        block = makeExpandable(pool, stream, rounded);
        if (block == nullptr)
            return nullptr;
    } else {
        const auto address = m_driver->makeSegment(bytes, stream);
        if (!address)
            return nullptr;
        block = &m_arena.make();
        block->address = *address;
        block->segment = *address;
        block->bytes = bytes;
        block->stream = stream;
        block->pool = &pool;
        block->order = nextOrder();
        addReserved(bytes);
        ++m_deviceMallocs;
    }
    if (pool.owner != nullptr)
        ++pool.owner->segments;
    return block;
}

//   whole:  |        block        |      the part that is handed out is a Block of its own, the rest keeps
//   split:  | block  |    rest    |      the object (and with it the counter of 2.12)
void CachingAllocator::splitIfWorth(ReplayBlock*& block, std::int64_t rounded)
{
    const std::int64_t remaining = block->bytes - rounded;
    const bool worth = block->pool->small || m_settings.expandableSegments
        ? remaining >= AllocatorSettings::kMinBlock
        : rounded < m_settings.maxSplitBytes && remaining > AllocatorSettings::kSmallSize;
    if (!worth)
        return;
    ReplayBlock& rest = *block;
    ReplayBlock& part = m_arena.make();
    part.address = rest.address;
    part.bytes = rounded;
    part.stream = rest.stream;
    part.segment = rest.segment;
    part.pool = rest.pool;
    part.range = rest.range;
    part.order = orderOfPart(rest);
    part.previous = rest.previous;
    part.next = &rest;
    if (part.previous != nullptr)
        part.previous->next = &part;
    rest.previous = &part;
    rest.address += static_cast<std::uint64_t>(rounded);
    rest.bytes = remaining;
    rest.pool->insert(rest);
    block = &part;
}

void CachingAllocator::mergeInto(ReplayBlock& block, ReplayBlock* neighbour)
{
    if (neighbour == nullptr || !neighbour->isFree() || neighbour->mapped != block.mapped)
        return;
    BlockPool& pool = *block.pool;
    if (neighbour->mapped)
        pool.free.erase(pool.free.iterator_to(*neighbour));
    else
        pool.unmapped.erase(pool.unmapped.iterator_to(*neighbour));
    if (block.previous == neighbour) {
        block.address = neighbour->address;
        block.previous = neighbour->previous;
        if (block.previous != nullptr)
            block.previous->next = &block;
    } else {
        block.next = neighbour->next;
        if (block.next != nullptr)
            block.next->previous = &block;
    }
    block.bytes += neighbour->bytes;
    m_arena.recycle(*neighbour);
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
    mergeInto(block, block.previous);
    mergeInto(block, block.next);
    block.pool->insert(block);
}

void CachingAllocator::completePending(PoolOwner only)
{
    const auto isConcerned = [&](const ReplayBlock& block) {
        return block.pool != nullptr && block.pending && !(m_capturing && block.capture == m_capture)
            && (only.isDefault() || (block.pool->owner != nullptr && block.pool->owner->name == only));
    };
    for (std::uint32_t slot = 0; m_pendingBlocks > 0 && slot < m_arena.slots(); ++slot)
        if (ReplayBlock& block = m_arena.at(slot); isConcerned(block))
            completeFree(block);
}

void CachingAllocator::forEachBlock(const std::function<void(ReplayBlock&)>& visit)
{
    for (std::uint32_t slot = 0; slot < m_arena.slots(); ++slot)
        if (ReplayBlock& block = m_arena.at(slot); block.pool != nullptr)
            visit(block);
}

ReplayBlock& CachingAllocator::addPiece(const Piece& piece, ReplayBlock* previous, std::uint64_t stream,
    PoolOwner name, bool small, AddressRange* range)
{
    BlockPool& pool = poolOf(small ? 1 : AllocatorSettings::kSmallSize + 1, name);
    ReplayBlock& block = m_arena.make();
    block.address = piece.address;
    block.bytes = piece.bytes;
    block.stream = stream;
    block.segment = range != nullptr ? range->address
        : previous != nullptr        ? previous->segment
                                     : piece.address;
    block.pool = &pool;
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
    addReserved(piece.bytes);
    if (piece.allocated)
        m_allocated += piece.bytes;
    if (piece.allocated || piece.pending)
        m_active += piece.bytes;
    else
        pool.insert(block);
    m_pendingBlocks += piece.pending ? 1 : 0;
    return block;
}

AddressRange& CachingAllocator::addRange(const AddressRange& range)
{
    return *m_ranges.emplace_back(std::make_unique<AddressRange>(range));
}

CachingAllocator CachingAllocator::clone(AllocatorDriver& driver) const
{
    CachingAllocator copy(m_settings, driver, m_deviceBytes);
    copy.m_allowedBytes = m_allowedBytes;
    copy.m_arena = m_arena.sameShape();
    copy.m_allocated = m_allocated;
    copy.m_active = m_active;
    copy.m_reserved = m_reserved;
    copy.m_reservedPeak = m_reservedPeak;
    copy.m_deviceMallocs = m_deviceMallocs;
    copy.m_deviceFrees = m_deviceFrees;
    copy.m_pendingBlocks = m_pendingBlocks;
    copy.m_rejections = m_rejections;
    copy.m_orders = m_orders;
    copy.m_capturing = m_capturing;
    copy.m_choseByAddress = m_choseByAddress;
    copy.m_capture = m_capture;

    std::vector<std::pair<const AddressRange*, AddressRange*>> ranges;
    for (const auto& range : m_ranges)
        ranges.emplace_back(range.get(), &copy.addRange(*range));
    std::ranges::sort(ranges);
    std::vector<std::pair<const BlockPool*, BlockPool*>> pools{ { m_small.get(), copy.m_small.get() },
        { m_large.get(), copy.m_large.get() } };
    for (const auto& pool : m_private) {
        PrivatePool& made = copy.privatePool(pool->name);
        made.segments = pool->segments;
        made.freeable = pool->freeable;
        pools.emplace_back(&pool->small, &made.small);
        pools.emplace_back(&pool->large, &made.large);
    }

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
        twin.pool
            = std::ranges::find(pools, block.pool, &std::pair<const BlockPool*, BlockPool*>::first)->second;
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

BlockArena BlockArena::sameShape() const
{
    BlockArena arena;
    while (arena.m_count < m_count)
        (void)arena.make();
    for (const ReplayBlock* unused : m_unused)
        arena.m_unused.push_back(&arena.at(unused->slot));
    return arena;
}

} // namespace strata::model
