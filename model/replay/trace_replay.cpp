// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/trace_replay.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace strata::model {

namespace {

using Releaser = ReplayGuesses::Releaser;

/// What called release_cached_blocks(), by the names of CUDACachingAllocator's functions; none: the stack has
/// no such frame.
std::optional<Releaser> releaserIn(const Recording& recording, StackId stack)
{
    for (const FrameId id : recording.stacks.stack(stack)) {
        const std::string_view function = recording.strings[recording.stacks.frame(id).function];
        if (function.find("DeviceCachingAllocator::malloc(") != std::string_view::npos)
            return Releaser::Malloc;
        if (function.find("DeviceCachingAllocator::emptyCache(") != std::string_view::npos)
            return Releaser::EmptyCache;
    }
    return std::nullopt;
}

} // namespace

TraceReplay::TraceReplay(const DeviceTrace& trace, const StartState& start, const TraceCheckOptions& options,
    std::int64_t rangeBytes, const std::vector<std::int32_t>& rank)
    : m_trace(&trace)
    , m_deviceBytes(options.deviceBytes)
    , m_cursor(trace)
    , m_events(&m_cursor.events())
    , m_driver(m_cursor, rangeBytes, rank, [this] { completeWaited(); })
    , m_allocator(options.settings, m_driver, options.deviceBytes)
    , m_calls(trace)
    , m_born(trace.blocks().bornCount(), nullptr)
    , m_older(trace.blocks().olderCount(), nullptr)
{
    m_result.rounding.born.extendTo(m_born.size(), BlockColumns::kRoundingUnknown);
    m_result.rounding.older.extendTo(m_older.size(), BlockColumns::kRoundingUnknown);
    m_result.open = start.openSizes();
    start.putInto(m_allocator, rank, m_older);
    m_allocator.forEachBlock([&](const ReplayBlock& block) {
        if (block.range != nullptr && block.mapped)
            m_driver.addMapped(block);
    });
    for (std::size_t row = 0; row < m_older.size(); ++row)
        if (const ReplayBlock* block = m_older[row])
            m_result.rounding.older.edit(row)
                = static_cast<std::uint32_t>(block->bytes - trace.blocks().requestedBytes.older[row]);
    m_result.allocatedBytesPeak = m_allocator.allocatedBytes();
    m_result.activeBytesPeak = m_allocator.activeBytes();
}

bool TraceReplay::run(const Progress& progress)
{
    constexpr std::size_t kReport = 1 << 18;
    std::size_t nextReport = 0;
    while (true) {
        while (!m_cursor.atEnd() && !m_cursor.difference()) {
            if (m_cursor.at() >= nextReport) {
                if (progress.cancelled())
                    return false;
                progress({ Stage::Checking, static_cast<std::int64_t>(m_cursor.at()),
                    static_cast<std::int64_t>(m_cursor.count()),
                    static_cast<std::int64_t>(m_cursor.count()) });
                nextReport = m_cursor.at() + kReport;
            }
            if (m_calls.waitsAt(static_cast<EventIndex>(m_cursor.at()))) [[unlikely]]
                playCalls();
            else
                step();
        }
        while (!m_cursor.difference() && m_calls.waitsAt(m_trace->eventCount()))
            playCalls();
        if (!m_cursor.difference() || !takeOtherGuess())
            break;
    }
    m_result.firstDifference = m_cursor.difference();
    m_result.eventsEqual = m_result.firstDifference ? m_result.firstDifference->event
                                                    : static_cast<std::int64_t>(m_cursor.count());
    compareEnd();
    return true;
}

ReplayBlock*& TraceReplay::blockOf(BlockId id)
{
    return (id.isOlder() ? m_older : m_born)[id.row()];
}

void TraceReplay::playCalls()
{
    const std::size_t before = m_cursor.at();
    m_calls.playNext(m_allocator);
    if (m_cursor.at() != before)
        m_result.emptyCaches.push_back(static_cast<EventIndex>(before));
}

void TraceReplay::step()
{
    switch (m_cursor.action(m_cursor.at())) {
    case Action::Alloc:
    case Action::Oom:
        allocateAt(m_cursor.at());
        break;
    case Action::FreeRequested:
        requestFree(m_cursor.at());
        break;
    case Action::FreeCompleted:
        if (m_cursor.at() + 1 < m_cursor.count()
            && (isRelease(m_cursor.action(m_cursor.at() + 1))
                || m_cursor.action(m_cursor.at() + 1) == Action::FreeCompleted))
            segmentEvent();
        else
            completeFree(m_cursor.at());
        break;
    default:
        segmentEvent();
    }
}

void TraceReplay::requestFree(std::size_t row)
{
    const BlockId id = m_events->block[row];
    ReplayBlock* block = id.valid() ? blockOf(id) : nullptr;
    if (block == nullptr || !block->allocated) {
        m_cursor.differ(std::nullopt, say("a free of a block that the replay does not have"));
        return;
    }
    m_allocator.requestFree(*block);
    m_cursor.advance();
}

void TraceReplay::completeFree(std::size_t row)
{
    const BlockId id = m_events->block[row];
    ReplayBlock* block = id.valid() ? blockOf(id) : nullptr;
    if (block == nullptr || !block->pending) {
        m_cursor.differ(std::nullopt, say("the end of a free that the replay does not wait for"));
        return;
    }
    if (row == 0 || m_cursor.action(row - 1) != Action::FreeRequested || m_events->block[row - 1] != id)
        m_result.hasPendingFrees = true;
    m_allocator.completeFree(*block);
    blockOf(id) = nullptr;
    m_cursor.advance();
}

// The request of an alloc or out-of-memory, with all that the allocator does for it.
void TraceReplay::allocateAt(std::size_t row)
{
    const std::int64_t requested = m_events->bytes[row];
    if (requested <= 0 || requested > kLargestRequest) {
        m_cursor.differ(std::nullopt, say("a request of a size that PyTorch does not serve"));
        return;
    }
    const PoolOwner pool = m_cursor.poolAt(row);
    const std::uint64_t stream = m_cursor.streamAt(row);
    // Up to 2.12 whatever goes to a private pool counts as capture.
    const bool captures = !m_calls.areComplete() && !pool.isDefault()
        && m_allocator.settings().version < TorchVersion{ 2, 13 };
    if (captures)
        m_allocator.setCapturing(true);
    ReplayBlock* block = m_allocator.allocate(requested, stream, pool);
    if (captures)
        m_allocator.setCapturing(false);
    if (m_cursor.difference())
        return;
    if (block == nullptr) {
        (void)m_cursor.expect({ Action::Oom, 0, m_allocator.settings().roundedBytes(requested),
            static_cast<std::int64_t>(stream) });
        return;
    }
    if (!m_cursor.expect({ Action::Alloc, block->address, requested, static_cast<std::int64_t>(stream) })) {
        learnTailBefore(*block, m_allocator.settings().roundedBytes(requested));
        return;
    }
    const BlockId id = m_events->block[row];
    if (!id.valid() || id.isOlder()) {
        m_cursor.moveTo(row);
        m_cursor.differ(std::nullopt, say("an alloc of no block"));
        return;
    }
    block->tag = id.value;
    m_born[id.row()] = block;
    m_result.rounding.born.edit(id.row()) = static_cast<std::uint32_t>(block->bytes - requested);
    if (m_allocator.allocatedBytes() > m_result.allocatedBytesPeak) {
        m_result.allocatedBytesPeak = m_allocator.allocatedBytes();
        m_result.allocatedPeakEvent = static_cast<EventIndex>(row);
    }
    if (m_allocator.activeBytes() > m_result.activeBytesPeak) {
        m_result.activeBytesPeak = m_allocator.activeBytes();
        m_result.activePeakEvent = static_cast<EventIndex>(row);
    }
}

//   | older block | tail? | free ...     the tail is as large as keeps the request from what is free behind
//   it
void TraceReplay::learnTailBefore(const ReplayBlock& taken, std::int64_t rounded)
{
    const ReplayBlock* older = taken.previous;
    if (older == nullptr || older->isFree() || taken.range != nullptr || taken.pool->small
        || older->tag == std::numeric_limits<std::int32_t>::min() || !BlockId{ older->tag }.isOlder())
        return;
    const std::int64_t behind = taken.next != nullptr && taken.next->isFree() ? taken.next->bytes : 0;
    // Leaves a block that is too small by the least there is.
    const std::int64_t tail = taken.bytes + behind - rounded + AllocatorSettings::kMinBlock;
    if (tail <= AllocatorSettings::kSmallSize)
        m_leastOfOlder = { BlockId{ older->tag }.row(), older->bytes + tail };
}

// Completed frees and events of segments belong to the call that they lead to.
//
//     free_completed* segment_free*  segment_alloc  alloc      a request (with a retry)
//     free_completed* segment_free*  ...                       empty_cache()
void TraceReplay::segmentEvent()
{
    std::size_t completions = m_cursor.at();
    while (completions < m_cursor.count()
        && (m_cursor.action(completions) == Action::FreeCompleted
            || !isOfAllocator(m_cursor.action(completions))))
        ++completions;
    const bool releases = completions < m_cursor.count() && isRelease(m_cursor.action(completions));
    // A call that is told of stands between these frees and the release.
    const bool isAnothers = releases && m_calls.waitsAt(static_cast<EventIndex>(completions));
    if ((!releases || isAnothers) && m_cursor.action(m_cursor.at()) == Action::FreeCompleted) {
        completeFree(m_cursor.at());
        return;
    }
    std::size_t call = completions;
    while (call < m_cursor.count()
        && (isOfSegment(m_cursor.action(call)) || !isOfAllocator(m_cursor.action(call))
            || m_cursor.action(call) == Action::FreeCompleted))
        ++call;
    const bool leadsToRequest = call < m_cursor.count()
        && (m_cursor.action(call) == Action::Alloc || m_cursor.action(call) == Action::Oom);
    const std::size_t first = m_cursor.at();
    if (releases && !m_calls.areComplete())
        if (const auto pool = poolThatEnds(completions)) {
            m_result.poolEnds.push_back({ static_cast<EventIndex>(completions), *pool, true });
            m_allocator.releasePool(*pool);
            m_allocator.emptyCache(*pool);
            if (m_cursor.at() == first && !m_cursor.difference())
                m_cursor.differ(std::nullopt, say("memory is released that the replay has in use"));
            return;
        }
    if (leadsToRequest && (!releases || releaserOf(completions, call) == Releaser::Malloc)) {
        if (releases) {
            releasePoolsOf(completions, call);
            completeBeforeMalloc(call, completions);
        }
        if (!m_cursor.difference())
            allocateAt(call);
        return;
    }
    if (!releases) {
        m_cursor.differ(std::nullopt, say("new memory without a request that it is for"));
        return;
    }
    releasePoolsOf(completions, call);
    m_result.emptyCaches.push_back(static_cast<EventIndex>(first));
    m_allocator.emptyCache();
    if (m_cursor.at() == first && !m_cursor.difference())
        m_cursor.differ(std::nullopt, say("memory is released that the replay has in use"));
}

// Frees that process_events() completed at the start of a malloc() are not told from those that the retry
// waits for. If anything stays pending it was the former, for the retry waits for all; and as long as the
// request would not fit it makes no difference but to garbage collection, which the former goes before.
void TraceReplay::completeBeforeMalloc(std::size_t malloc, std::size_t completionsEnd)
{
    std::int64_t completions = 0;
    for (std::size_t row = m_cursor.at(); row < completionsEnd; ++row)
        completions += m_cursor.action(row) == Action::FreeCompleted ? 1 : 0;
    const bool some = m_allocator.pendingBlocks() > completions;
    const PoolOwner pool = m_cursor.poolAt(malloc);
    while (m_cursor.at() < completionsEnd && !m_cursor.difference()
        && m_cursor.action(m_cursor.at()) == Action::FreeCompleted) {
        const BlockId id = m_events->block[m_cursor.at()];
        const ReplayBlock* block = id.valid() ? blockOf(id) : nullptr;
        if (!some && block != nullptr
            && m_allocator.wouldFitWhenFreed(
                *block, m_events->bytes[malloc], m_cursor.streamAt(malloc), pool))
            return;
        completeFree(m_cursor.at());
    }
}

// Memory of a private pool is released only once its users are gone.
void TraceReplay::releasePoolsOf(std::size_t first, std::size_t last)
{
    if (m_calls.areComplete())
        return;
    PoolOwner before;
    for (std::size_t row = first; row < last; ++row) {
        if (!isRelease(m_cursor.action(row)))
            continue;
        const PoolOwner pool = m_cursor.poolAt(row);
        if (!pool.isDefault() && pool != before) {
            m_allocator.releasePool(pool);
            m_result.poolEnds.push_back({ static_cast<EventIndex>(row), pool, false });
        }
        before = pool;
    }
}

// empty_cache() and a retry release the default pools first. A MemPool that ends releases its own memory and
// nothing else.
std::optional<PoolOwner> TraceReplay::poolThatEnds(std::size_t release) const
{
    const PoolOwner pool = m_cursor.poolAt(release);
    const bool ends = pool.owner == 0 && pool.id != 0
        && m_allocator.settings().version >= TorchVersion{ 2, 9 } && m_allocator.hasReleasable();
    return ends ? std::optional(pool) : std::nullopt;
}

// While the allocator waits for the streams of its blocks.
void TraceReplay::completeWaited()
{
    while (!m_cursor.atEnd() && !m_cursor.difference()
        && m_cursor.action(m_cursor.at()) == Action::FreeCompleted) {
        const BlockId id = m_events->block[m_cursor.at()];
        if (!id.valid() || blockOf(id) == nullptr || !blockOf(id)->pending)
            break;
        completeFree(m_cursor.at());
    }
}

ReplayGuesses::Releaser TraceReplay::releaserOf(std::size_t release, std::size_t malloc)
{
    if (m_calls.areComplete())
        return Releaser::Malloc; // the others are played where they were called
    if (const auto decided = m_guesses.decided(release))
        return *decided;
    if (m_allocator.wouldFind(m_events->bytes[malloc], m_cursor.streamAt(malloc), m_cursor.poolAt(malloc))
        != nullptr)
        return Releaser::EmptyCache; // malloc() would not have come to it
    const StackId who = m_events->stack[release];
    if (const auto named = who.valid() ? releaserIn(m_trace->recording(), who) : std::nullopt)
        return *named;
    if (who.valid() && m_events->stack[malloc].valid())
        return who == m_events->stack[malloc] ? Releaser::Malloc : Releaser::EmptyCache;
    if (m_guesses.wantsCheckpoint(m_cursor.at()))
        m_guesses.keep({ m_cursor.at(), m_allocator.clone(m_driver), m_calls,
            static_cast<ReplayTally>(m_result), m_driver.ranges() });
    const Releaser guess = hadRoom(m_allocator, m_events->bytes[malloc], *m_trace, m_deviceBytes)
        ? Releaser::EmptyCache
        : Releaser::Malloc;
    m_guesses.add(release, guess);
    return guess;
}

bool TraceReplay::takeOtherGuess()
{
    const ReplayCheckpoint* const from = m_guesses.takeOther(m_cursor.at());
    if (from == nullptr)
        return false;
    m_allocator = from->allocator.clone(m_driver);
    m_calls = from->calls;
    m_cursor.moveTo(from->at);
    m_cursor.forgetDifference();
    m_driver.setRanges(from->ranges);
    static_cast<ReplayTally&>(m_result) = from->tally;
    m_leastOfOlder.reset();
    ++m_result.hypothesesTried;
    std::ranges::fill(m_born, nullptr);
    std::ranges::fill(m_older, nullptr);
    m_allocator.forEachBlock([&](ReplayBlock& block) {
        if (!block.isFree())
            blockOf(BlockId{ block.tag }) = &block;
    });
    return true;
}

void TraceReplay::compareEnd()
{
    m_result.emptyCachesFromStacks = m_guesses.areNone();
    if (!m_trace->endKnown())
        return;
    const Totals& totals = m_trace->totals();
    m_result.allocatedEndDifference = m_allocator.allocatedBytes() - totals.allocatedBytesEnd;
    m_result.reservedEndDifference = m_allocator.reservedBytes() - totals.reservedBytesEnd;
    if (m_result.firstDifference)
        return;
    std::vector<const ReplayBlock*> blocks;
    m_allocator.forEachBlock([&](ReplayBlock& block) {
        if (block.mapped)
            blocks.push_back(&block);
    });
    std::ranges::sort(blocks, {}, &ReplayBlock::address);
    const Recording& recording = m_trace->recording();
    const auto isEqual = [&](const ReplayBlock& block, const FinalBlock& final, const FinalSegment& segment) {
        const BlockState state = block.allocated ? BlockState::Allocated
            : block.pending                      ? BlockState::PendingFree
                                                 : BlockState::Inactive;
        const PoolOwner owner = block.pool->owner != nullptr ? block.pool->owner->name : PoolOwner{};
        const SegmentKind kind
            = segment.pool == kNoIndex ? SegmentKind::Unknown : recording.pools[segment.pool].kind;
        return block.address == final.address && block.bytes == final.bytes && state == final.state
            && owner == poolOwnerOf(recording, segment.pool)
            && block.pool->small == (kind == SegmentKind::Small)
            && (block.range != nullptr) == segment.expandable
            && static_cast<std::int64_t>(block.stream)
            == (segment.stream == kNoIndex ? 0 : recording.streams[segment.stream]);
    };
    std::size_t at = 0;
    bool equal = true;
    for (const FinalSegment& segment : m_trace->finalSegments())
        for (std::uint32_t i = 0; equal && i < segment.blockCount; ++i)
            equal = at < blocks.size()
                && isEqual(*blocks[at++], m_trace->finalBlocks()[segment.firstBlock + i], segment);
    m_result.finalBlocksEqual = equal && at == blocks.size();
}

} // namespace strata::model
