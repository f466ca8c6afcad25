// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/trace_replay.h"

#include <algorithm>
#include <iterator>

namespace strata::model {

namespace {

// Between two checkpoints, where there are guesses: what a wrong one costs at most.
constexpr std::size_t kCheckpointEvents = 16'384;
// A guess that is this old is not what a difference comes from.
constexpr std::size_t kGuessReach = 512;
constexpr std::int64_t kLargestRequest = std::int64_t{ 1 } << 60; // PyTorch refuses more
constexpr std::uint64_t kNowhere = std::uint64_t{ 1 } << 62; // for ranges of which nothing is ever mapped

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
    m_result.undeterminedBlocks = start.undeterminedBlocks();
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

std::optional<std::uint64_t> TraceReplay::makeSegment(std::int64_t bytes, std::uint64_t stream)
{
    const Action next = atEnd() ? Action::Alloc : action(m_at);
    if (next != Action::SegmentAlloc && next != Action::Alloc)
        return std::nullopt; // the driver refused: what follows is the retry, or the out-of-memory
    const std::uint64_t address = atEnd() || next == Action::Alloc ? 0 : m_events->address[m_at];
    if (!expect({ Action::SegmentAlloc, address, bytes, static_cast<std::int64_t>(stream) }))
        return std::nullopt;
    return address;
}

void TraceReplay::freeSegment(const ReplayBlock& segment)
{
    (void)expect(
        { Action::SegmentFree, segment.address, segment.bytes, static_cast<std::int64_t>(segment.stream) });
}

AddressRange TraceReplay::reserveRange(std::int64_t pageBytes, std::uint64_t stream)
{
    AddressRange range;
    range.pageBytes = pageBytes;
    range.bytes = (m_rangeBytes + pageBytes - 1) / pageBytes * pageBytes;
    if (!atEnd() && action(m_at) == Action::SegmentMap) {
        range.address = m_events->address[m_at];
    } else {
        // Nothing could be mapped at once. Where it lies shows when something first is.
        range.address
            = firstMappedOutside(pageBytes, stream).value_or(kNowhere + (std::uint64_t{ m_nowhere++ } << 44));
    }
    m_ranges.push_back({ range, range.address, stream });
    return range;
}

// The first page of all that are mapped from here on which lies in no range that is known. A range is mapped
// from its front on, so what lies behind all that was mapped of it is not of it, however large it is.
std::optional<std::uint64_t> TraceReplay::firstMappedOutside(
    std::int64_t pageBytes, std::uint64_t stream) const
{
    std::vector<KnownRange> known;
    std::ranges::copy_if(m_ranges, std::back_inserter(known),
        [&](const KnownRange& one) { return one.range.pageBytes == pageBytes && one.stream == stream; });
    const bool small = pageBytes == AllocatorSettings::kSmallSegment;
    std::uint64_t farthest = 0; // the lowest range that has room is taken
    for (std::size_t row = m_at; row < m_count; ++row) {
        if (action(row) != Action::SegmentMap || streamAt(row) != stream)
            continue;
        const std::int64_t bytes = m_events->bytes[row];
        if (small ? bytes > 2 * pageBytes : bytes % pageBytes != 0) // of the other pool
            continue;
        const std::uint64_t address = m_events->address[row];
        const auto of = std::ranges::find_if(known,
            [&](const KnownRange& one) { return one.range.address <= address && address <= one.mappedEnd; });
        const std::uint64_t end = address + static_cast<std::uint64_t>(bytes);
        if (of != known.end())
            of->mappedEnd = std::max(of->mappedEnd, end);
        else if (address > farthest)
            return address;
        else // it would have been taken before, had it been there: the range of a later call
            known.push_back({ { address, 0, pageBytes }, end, stream });
        farthest = std::max(farthest, address);
    }
    return std::nullopt;
}

void TraceReplay::releaseRange(const AddressRange& range)
{
    std::erase_if(m_ranges, [&](const KnownRange& known) { return known.range.address == range.address; });
}

bool TraceReplay::map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    const Action next = atEnd() ? Action::Alloc : action(m_at);
    if (next != Action::SegmentMap && next != Action::Alloc)
        return false;
    auto of = m_ranges.end(); // the nearest from below
    for (auto known = m_ranges.begin(); known != m_ranges.end(); ++known)
        if (known->range.address <= address
            && (of == m_ranges.end() || known->range.address > of->range.address))
            of = known;
    if (of != m_ranges.end() && next == Action::SegmentMap && m_events->address[m_at] != address) {
        const std::int64_t most
            = static_cast<std::int64_t>(address - of->range.address) + bytes - of->range.pageBytes;
        if (static_cast<std::int64_t>(of->mappedEnd - of->range.address) <= most)
            m_rangeBytesAtMost = most;
    } else if (of != m_ranges.end())
        of->mappedEnd = std::max(of->mappedEnd, address + static_cast<std::uint64_t>(bytes));
    return expect({ Action::SegmentMap, address, bytes, static_cast<std::int64_t>(stream) });
}

void TraceReplay::unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream)
{
    (void)expect({ Action::SegmentUnmap, address, bytes, static_cast<std::int64_t>(stream) });
}

void TraceReplay::synchronize(CachingAllocator&, PoolOwner)
{
    while (!atEnd() && !m_result.firstDifference && action(m_at) == Action::FreeCompleted) {
        const BlockId id = m_events->block[m_at];
        if (!id.valid() || blockOf(id) == nullptr || !blockOf(id)->pending)
            break;
        completeFree(m_at);
    }
}

ReplayBlock& TraceReplay::chooseOfUnknownOrder(ReplayBlock& first)
{
    if (atEnd() || (action(m_at) != Action::Alloc && action(m_at) != Action::SegmentFree))
        return first;
    const std::uint64_t wanted = m_events->address[m_at];
    if (first.address == wanted)
        return first;
    const auto& free = first.pool->free;
    for (auto it = std::next(free.iterator_to(first));
         it != free.end() && it->stream == first.stream && it->bytes == first.bytes && it->order < 0; ++it) {
        if (it->address != wanted || it->range != nullptr)
            continue;
        // It goes before all that stood before it.
        for (auto passed = free.iterator_to(first); passed != it; ++passed)
            if (passed->order != it->order)
                m_learned.emplace(originOf(*it), originOf(*passed));
        return const_cast<ReplayBlock&>(*it);
    }
    return first;
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

TraceReplay::Releaser TraceReplay::releaserOf(std::size_t release, std::size_t malloc)
{
    if (m_calls.areComplete())
        return Releaser::Malloc; // the others are played where they were called
    if (const auto decided = m_decided.find(release); decided != m_decided.end())
        return decided->second;
    if (m_allocator.wouldFind(m_events->bytes[malloc], streamAt(malloc), poolAt(malloc)) != nullptr)
        return Releaser::EmptyCache; // malloc() would not have come to it
    const StackId who = m_events->stack[release];
    if (who.valid() && m_events->stack[malloc].valid())
        return who == m_events->stack[malloc] ? Releaser::Malloc : Releaser::EmptyCache;
    if (!m_checkpoint || m_at - m_checkpoint->at > kCheckpointEvents)
        makeCheckpoint();
    const Releaser guess = hadRoom(malloc) ? Releaser::EmptyCache : Releaser::Malloc;
    m_guesses.emplace_back(release, guess);
    return guess;
}

// Whether the driver will have had memory for the request: as much was reserved at another time, or the card
// has it. A retry releases because there is none.
bool TraceReplay::hadRoom(std::size_t malloc) const
{
    const AllocatorSettings& settings = m_allocator.settings();
    const std::int64_t rounded = settings.roundedBytes(m_events->bytes[malloc]);
    const std::int64_t page = settings.pageBytes(rounded <= AllocatorSettings::kSmallSize);
    const std::int64_t bytes
        = settings.expandableSegments ? (rounded + page - 1) / page * page : settings.segmentBytes(rounded);
    // On a real card contexts and other processes have a part that nothing tells.
    std::int64_t room = m_trace->recording().simulated ? m_deviceBytes : m_deviceBytes / 4 * 3;
    if (settings.memoryFraction && settings.garbageCollectionThreshold > 0
        && static_cast<double>(m_allocator.reservedBytes()) > settings.garbageCollectionThreshold
                * *settings.memoryFraction * static_cast<double>(m_deviceBytes))
        return false; // garbage is collected before the driver is asked
    if (settings.memoryFraction)
        room = std::min(
            room, static_cast<std::int64_t>(*settings.memoryFraction * static_cast<double>(m_deviceBytes)));
    return m_allocator.reservedBytes() + bytes <= std::max(room, m_trace->totals().reservedBytesPeak);
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

void TraceReplay::makeCheckpoint()
{
    TraceCheck counted;
    counted.allocatedBytesPeak = m_result.allocatedBytesPeak;
    counted.activeBytesPeak = m_result.activeBytesPeak;
    counted.allocatedPeakEvent = m_result.allocatedPeakEvent;
    counted.activePeakEvent = m_result.activePeakEvent;
    counted.emptyCaches = m_result.emptyCaches;
    counted.poolEnds = m_result.poolEnds;
    counted.hasPendingFrees = m_result.hasPendingFrees;
    m_checkpoint.emplace(Checkpoint{ m_at, m_allocator.clone(*this), m_calls, std::move(counted), m_ranges });
    m_guesses.clear();
}

bool TraceReplay::takeOtherGuess()
{
    if (m_guesses.empty() || !m_checkpoint || m_at - m_guesses.back().first > kGuessReach)
        return false;
    const auto [release, guess] = m_guesses.back();
    m_decided[release] = guess == Releaser::Malloc ? Releaser::EmptyCache : Releaser::Malloc;
    m_guesses.clear();
    m_allocator = m_checkpoint->allocator.clone(*this);
    m_calls = m_checkpoint->calls;
    m_at = m_checkpoint->at;
    m_ranges = m_checkpoint->ranges;
    const TraceCheck& counted = m_checkpoint->result;
    m_result.allocatedBytesPeak = counted.allocatedBytesPeak;
    m_result.activeBytesPeak = counted.activeBytesPeak;
    m_result.allocatedPeakEvent = counted.allocatedPeakEvent;
    m_result.activePeakEvent = counted.activePeakEvent;
    m_result.emptyCaches = counted.emptyCaches;
    m_result.poolEnds = counted.poolEnds;
    m_result.hasPendingFrees = counted.hasPendingFrees;
    m_result.firstDifference.reset();
    m_leastOfOlder.reset();
    m_rangeBytesAtMost.reset();
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
