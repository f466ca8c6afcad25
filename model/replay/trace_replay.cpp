// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/trace_replay.h"

#include <algorithm>
#include <iterator>

namespace strata::model {

namespace {

bool isRelease(Action action)
{
    return action == Action::SegmentFree || action == Action::SegmentUnmap;
}

bool isOfSegment(Action action)
{
    return isRelease(action) || action == Action::SegmentAlloc || action == Action::SegmentMap;
}

bool isOfAllocator(Action action)
{
    return isOfSegment(action) || action == Action::Alloc || action == Action::FreeRequested
        || action == Action::FreeCompleted || action == Action::Oom;
}

} // namespace

TraceReplay::TraceReplay(const DeviceTrace& trace, const StartState& start, const TraceCheckOptions& options,
    std::int64_t rangeBytes, std::vector<std::int32_t> rank)
    : m_trace(&trace)
    , m_events(&trace.events())
    , m_start(&start)
    , m_pools(trace)
    , m_rank(std::move(rank))
    , m_originOf(m_rank.size())
    , m_rangeBytes(rangeBytes)
    , m_deviceBytes(options.deviceBytes)
    , m_count(trace.events().action.size())
    , m_allocator(options.settings, *this, options.deviceBytes)
    , m_calls(trace)
    , m_born(trace.blocks().bornCount(), nullptr)
    , m_older(trace.blocks().olderCount(), nullptr)
{
    for (std::size_t origin = 0; origin < m_rank.size(); ++origin)
        m_originOf[static_cast<std::size_t>(m_rank[origin])] = static_cast<std::int32_t>(origin);
    m_result.rounding.born.extendTo(m_born.size(), BlockColumns::kRoundingUnknown);
    m_result.rounding.older.extendTo(m_older.size(), BlockColumns::kRoundingUnknown);
    m_result.open = start.openSizes();
    start.putInto(m_allocator, m_rank, m_older);
    m_allocator.forEachBlock([&](const ReplayBlock& block) {
        if (block.range == nullptr || !block.mapped)
            return;
        const auto known = std::ranges::find(
            m_ranges, block.range->address, [](const KnownRange& one) { return one.range.address; });
        if (known == m_ranges.end())
            m_ranges.push_back({ *block.range, block.end(), block.stream });
        else
            known->mappedEnd = std::max(known->mappedEnd, block.end());
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
    while (!atEnd() && !isOfAllocator(action(m_at)))
        ++m_at;
    while (true) {
        while (!atEnd() && !m_result.firstDifference) {
            if (m_at >= nextReport) {
                if (progress.cancelled())
                    return false;
                progress({ Stage::Checking, static_cast<std::int64_t>(m_at),
                    static_cast<std::int64_t>(m_count), static_cast<std::int64_t>(m_count) });
                nextReport = m_at + kReport;
            }
            if (m_calls.waitsAt(static_cast<EventIndex>(m_at))) [[unlikely]]
                playCalls();
            else
                step();
        }
        while (!m_result.firstDifference && m_calls.waitsAt(m_trace->eventCount()))
            playCalls();
        if (!m_result.firstDifference || !takeOtherGuess())
            break;
    }
    m_result.eventsEqual
        = m_result.firstDifference ? m_result.firstDifference->event : static_cast<std::int64_t>(m_count);
    compareEnd();
    return true;
}

void TraceReplay::advance()
{
    do
        ++m_at;
    while (!atEnd() && !isOfAllocator(action(m_at)));
}

ComparedEvent TraceReplay::recorded(std::size_t row) const
{
    const Action what = action(row);
    return { what, what == Action::Oom ? 0 : m_events->address[row], m_events->bytes[row],
        static_cast<std::int64_t>(streamAt(row)) };
}

std::uint64_t TraceReplay::streamAt(std::size_t row) const
{
    const StreamIndex stream = m_events->stream[row];
    return stream == kNoIndex ? 0 : static_cast<std::uint64_t>(m_trace->recording().streams[stream]);
}

PoolOwner TraceReplay::poolAt(std::size_t row) const
{
    return m_pools.at(row);
}

ReplayBlock*& TraceReplay::blockOf(BlockId id)
{
    return (id.isOlder() ? m_older : m_born)[id.row()];
}

void TraceReplay::differ(const std::optional<ComparedEvent>& got, Sentence cause)
{
    if (m_result.firstDifference)
        return;
    ReplayDifference difference;
    difference.event = static_cast<EventIndex>(m_at);
    if (!atEnd())
        difference.expected = recorded(m_at);
    difference.got = got;
    difference.cause = std::move(cause);
    m_result.firstDifference = std::move(difference);
}

bool TraceReplay::expect(const ComparedEvent& got)
{
    if (m_result.firstDifference)
        return false;
    if (atEnd()) {
        differ(got, say("the recording ends before the call that its last events belong to"));
        return false;
    }
    const ComparedEvent wanted = recorded(m_at);
    if (wanted == got) {
        advance();
        return true;
    }
    if (wanted.action != got.action)
        differ(got,
            got.action == Action::SegmentAlloc || got.action == Action::SegmentMap
                ? say("nothing that is cached fits the request under these settings, but something did")
                : wanted.action == Action::SegmentAlloc || wanted.action == Action::SegmentMap
                ? say("a cached block fits the request under these settings, but new memory was taken")
                : say("other settings, or a call that the trace does not show, led to another event"));
    else if (wanted.bytes != got.bytes)
        differ(got, say("sizes are rounded in another way: the settings were others, or changed"));
    else if (wanted.address != got.address)
        differ(got,
            say("another of the free blocks that fit was taken: by another version's order, or another "
                "state"));
    else
        differ(got, say("the stream is another"));
    return false;
}

void TraceReplay::playCalls()
{
    const std::size_t before = m_at;
    m_calls.playNext(m_allocator);
    if (m_at != before)
        m_result.emptyCaches.push_back(static_cast<EventIndex>(before));
}

ReplayBlock& TraceReplay::chooseLastOfUnknownOrder(ReplayBlock& last)
{
    if (atEnd() || action(m_at) != Action::SegmentFree || last.address == m_events->address[m_at])
        return last;
    const auto& free = last.pool->free;
    for (auto it = free.iterator_to(last); it != free.begin();) {
        --it;
        if (it->stream != last.stream || it->bytes != last.bytes || it->order >= 0)
            break;
        if (it->address != m_events->address[m_at] || it->range != nullptr)
            continue;
        for (auto passed = std::next(it); passed != free.end() && passed->bytes == it->bytes
             && passed->stream == it->stream && passed->order < 0;
             ++passed)
            if (passed->order != it->order)
                m_learned.emplace(originOf(*passed), originOf(*it));
        return const_cast<ReplayBlock&>(*it);
    }
    return last;
}

std::int32_t TraceReplay::originOf(const ReplayBlock& block) const
{
    return m_originOf[m_originOf.size() - static_cast<std::size_t>(-block.order)];
}

void TraceReplay::step()
{
    switch (action(m_at)) {
    case Action::Alloc:
    case Action::Oom:
        allocateAt(m_at);
        break;
    case Action::FreeRequested:
        requestFree(m_at);
        break;
    case Action::FreeCompleted:
        if (m_at + 1 < m_count && (isRelease(action(m_at + 1)) || action(m_at + 1) == Action::FreeCompleted))
            segmentEvent();
        else
            completeFree(m_at);
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
        differ(std::nullopt, say("a free of a block that the replay does not have"));
        return;
    }
    m_allocator.requestFree(*block);
    advance();
}

void TraceReplay::completeFree(std::size_t row)
{
    const BlockId id = m_events->block[row];
    ReplayBlock* block = id.valid() ? blockOf(id) : nullptr;
    if (block == nullptr || !block->pending) {
        differ(std::nullopt, say("the end of a free that the replay does not wait for"));
        return;
    }
    if (row == 0 || action(row - 1) != Action::FreeRequested || m_events->block[row - 1] != id)
        m_result.hasPendingFrees = true;
    m_allocator.completeFree(*block);
    blockOf(id) = nullptr;
    advance();
}

// The request of an alloc or out-of-memory, with all that the allocator does for it.
void TraceReplay::allocateAt(std::size_t row)
{
    const std::int64_t requested = m_events->bytes[row];
    if (requested <= 0 || requested > kLargestRequest) {
        differ(std::nullopt, say("a request of a size that PyTorch does not serve"));
        return;
    }
    const PoolOwner pool = poolAt(row);
    const std::uint64_t stream = streamAt(row);
    // Up to 2.12 whatever goes to a private pool counts as capture.
    const bool captures = !m_calls.areComplete() && !pool.isDefault()
        && m_allocator.settings().version < TorchVersion{ 2, 13 };
    if (captures)
        m_allocator.setCapturing(true);
    ReplayBlock* block = m_allocator.allocate(requested, stream, pool);
    if (captures)
        m_allocator.setCapturing(false);
    if (m_result.firstDifference)
        return;
    if (block == nullptr) {
        (void)expect({ Action::Oom, 0, m_allocator.settings().roundedBytes(requested),
            static_cast<std::int64_t>(stream) });
        return;
    }
    if (!expect({ Action::Alloc, block->address, requested, static_cast<std::int64_t>(stream) })) {
        learnTailBefore(*block, m_allocator.settings().roundedBytes(requested));
        return;
    }
    const BlockId id = m_events->block[row];
    if (!id.valid() || id.isOlder()) {
        m_at = row;
        differ(std::nullopt, say("an alloc of no block"));
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
    std::size_t completions = m_at;
    while (completions < m_count
        && (action(completions) == Action::FreeCompleted || !isOfAllocator(action(completions))))
        ++completions;
    const bool releases = completions < m_count && isRelease(action(completions));
    // A call that is told of stands between these frees and the release.
    const bool isAnothers = releases && m_calls.waitsAt(static_cast<EventIndex>(completions));
    if ((!releases || isAnothers) && action(m_at) == Action::FreeCompleted) {
        completeFree(m_at);
        return;
    }
    std::size_t call = completions;
    while (call < m_count
        && (isOfSegment(action(call)) || !isOfAllocator(action(call))
            || action(call) == Action::FreeCompleted))
        ++call;
    const bool leadsToRequest
        = call < m_count && (action(call) == Action::Alloc || action(call) == Action::Oom);
    const std::size_t first = m_at;
    if (releases && !m_calls.areComplete())
        if (const auto pool = poolThatEnds(completions)) {
            m_result.poolEnds.push_back({ static_cast<EventIndex>(completions), *pool, true });
            m_allocator.releasePool(*pool);
            m_allocator.emptyCache(*pool);
            if (m_at == first && !m_result.firstDifference)
                differ(std::nullopt, say("memory is released that the replay has in use"));
            return;
        }
    if (leadsToRequest && (!releases || releaserOf(completions, call) == Releaser::Malloc)) {
        if (releases) {
            releasePoolsOf(completions, call);
            completeBeforeMalloc(call, completions);
        }
        if (!m_result.firstDifference)
            allocateAt(call);
        return;
    }
    if (!releases) {
        differ(std::nullopt, say("new memory without a request that it is for"));
        return;
    }
    releasePoolsOf(completions, call);
    m_result.emptyCaches.push_back(static_cast<EventIndex>(first));
    m_allocator.emptyCache();
    if (m_at == first && !m_result.firstDifference)
        differ(std::nullopt, say("memory is released that the replay has in use"));
}

// Frees that process_events() completed at the start of a malloc() are not told from those that the retry
// waits for. If anything stays pending it was the former, for the retry waits for all; and as long as the
// request would not fit it makes no difference but to garbage collection, which the former goes before.
void TraceReplay::completeBeforeMalloc(std::size_t malloc, std::size_t completionsEnd)
{
    std::int64_t completions = 0;
    for (std::size_t row = m_at; row < completionsEnd; ++row)
        completions += action(row) == Action::FreeCompleted ? 1 : 0;
    const bool some = m_allocator.pendingBlocks() > completions;
    const PoolOwner pool = poolAt(malloc);
    while (m_at < completionsEnd && !m_result.firstDifference && action(m_at) == Action::FreeCompleted) {
        const BlockId id = m_events->block[m_at];
        const ReplayBlock* block = id.valid() ? blockOf(id) : nullptr;
        if (!some && block != nullptr
            && m_allocator.wouldFitWhenFreed(*block, m_events->bytes[malloc], streamAt(malloc), pool))
            return;
        completeFree(m_at);
    }
}

// Memory of a private pool is released only once its users are gone.
void TraceReplay::releasePoolsOf(std::size_t first, std::size_t last)
{
    if (m_calls.areComplete())
        return;
    PoolOwner before;
    for (std::size_t row = first; row < last; ++row) {
        if (!isRelease(action(row)))
            continue;
        const PoolOwner pool = poolAt(row);
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
    const PoolOwner pool = poolAt(release);
    const bool ends = pool.owner == 0 && pool.id != 0
        && m_allocator.settings().version >= TorchVersion{ 2, 9 } && m_allocator.hasReleasable();
    return ends ? std::optional(pool) : std::nullopt;
}

void TraceReplay::compareEnd()
{
    m_result.emptyCachesFromStacks = m_guesses.empty() && m_decided.empty();
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
