// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/fragmentation.h"

#include "model/analysis/summary/range_peak.h"
#include "model/replay/played_calls.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata::model {

namespace {

/// Whole pages from `begin` to `end`, offsets within an expandable segment.
std::int64_t wholePages(std::int64_t begin, std::int64_t end, std::int64_t page)
{
    return std::max<std::int64_t>(0, end / page * page - (begin + page - 1) / page * page);
}

/// What freeing block `i` alone would let the allocator give back.
std::int64_t returnableBytes(const MapSegment& segment, std::span<const MapBlock> blocks, std::size_t i,
    std::int64_t liveBlocks, std::int64_t page)
{
    if (!segment.expandable)
        return liveBlocks == 1 ? segment.bytes : 0;
    const auto offset
        = [&](std::uint64_t address) { return static_cast<std::int64_t>(address - segment.address); };
    std::int64_t begin = offset(blocks[i].address), end = offset(blocks[i].end()), already = 0;
    if (i > 0 && blocks[i - 1].isFree()) {
        begin = offset(blocks[i - 1].address);
        already += wholePages(begin, offset(blocks[i - 1].end()), page);
    }
    if (i + 1 < blocks.size() && blocks[i + 1].isFree()) {
        end = offset(blocks[i + 1].end());
        already += wholePages(offset(blocks[i + 1].address), end, page);
    }
    return wholePages(begin, end, page) - already;
}

/// Private pools that somebody uses after an event: those whose last user is known to have gone are left out.
bool isKept(const std::set<PoolOwner>& released, const PoolOwner& owner)
{
    return !owner.isDefault() && !released.contains(owner);
}

template <class Key>
void addSegment(std::map<Key, ReservedSum>& parts, const Key& key, const MapSegment& segment)
{
    ReservedSum& part = parts[key];
    ++part.segments;
    part.reservedBytes += segment.bytes;
    part.freeBytes += segment.freeBytes();
}

template <class Key> std::vector<ReservedSum> largestFirst(const std::map<Key, ReservedSum>& parts)
{
    std::vector<ReservedSum> sorted;
    for (const auto& [key, part] : parts)
        sorted.push_back(part);
    std::ranges::stable_sort(sorted, std::greater{}, &ReservedSum::reservedBytes);
    return sorted;
}

} // namespace

Sentence cachedSentence(std::int64_t cachedBytes, std::int64_t keptBytes)
{
    if (keptBytes <= 0)
        return say("in segments that are free as a whole: empty_cache() gives them back");
    if (keptBytes >= cachedBytes)
        return say("in segments that are free as a whole, of private pools: empty_cache() gives back 0 B");
    return say("in segments that are free as a whole: empty_cache() gives back %1, private pools keep %2",
        asBytes(cachedBytes - keptBytes), asBytes(keptBytes));
}

std::optional<double> Fragmentation::externalShare() const
{
    if (freeBytes <= 0)
        return std::nullopt;
    return 1.0 - static_cast<double>(largestFreeBytes) / static_cast<double>(freeBytes);
}

EventIndex reservedPeakInstant(const DeviceTrace& trace)
{
    const Column<Action>& actions = trace.events().action;
    const EventIndex peak = trace.totals().reservedPeakEvent;
    EventIndex event = peak;
    while (event >= 0 && event + 1 < trace.eventCount()
        && (actions[static_cast<std::size_t>(event)] == Action::SegmentAlloc
            || actions[static_cast<std::size_t>(event)] == Action::SegmentMap))
        ++event;
    return event >= 0 && actions[static_cast<std::size_t>(event)] == Action::Alloc ? event : peak;
}

Fragmentation fragmentationOf(
    const DeviceTrace& trace, const AllocatorMap& map, const AllocatorSettings& settings)
{
    Fragmentation result;
    result.event = map.event;
    result.exact = map.exact;
    const std::set<PoolOwner> released = releasedPools(trace, map.event);
    std::map<StreamIndex, ReservedSum> byStream;
    std::map<PoolOwner, ReservedSum> byPool;
    for (std::uint32_t number = 0; number < map.segments.size(); ++number) {
        const MapSegment& segment = map.segments[number];
        const std::span<const MapBlock> blocks = map.blocksOf(segment);
        result.reservedBytes += segment.bytes;
        const PoolOwner owner = poolOwnerOf(trace.recording(), segment.pool);
        const bool kept = isKept(released, owner);
        addSegment(byStream, segment.stream, segment);
        byStream[segment.stream].stream = segment.stream;
        addSegment(byPool, owner, segment);
        byPool[owner].pool = owner;
        const std::int64_t page = settings.pageBytes(isSmall(trace.recording(), segment));
        std::int64_t freeBytes = 0, liveBlocks = 0;
        for (const MapBlock& block : blocks) {
            if (block.isFree()) {
                freeBytes += block.bytes;
                result.largestFreeBytes = std::max(result.largestFreeBytes, block.bytes);
                if (segment.expandable && !kept) {
                    const auto begin = static_cast<std::int64_t>(block.address - segment.address);
                    result.emptyCacheBytes += wholePages(begin, begin + block.bytes, page);
                }
                continue;
            }
            ++liveBlocks;
            if (block.pending) {
                result.pendingBytes += block.bytes;
            } else {
                result.liveBytes += block.bytes - block.roundingBytes - block.unsplitBytes;
                result.roundingBytes += block.roundingBytes;
                result.unsplitBytes += block.unsplitBytes;
            }
        }
        result.freeBytes += freeBytes;
        if (liveBlocks == 0) {
            result.cachedSegmentsBytes += segment.bytes;
            result.cachedPrivateBytes += kept ? segment.bytes : 0;
            result.emptyCacheBytes += kept || segment.expandable ? 0 : segment.bytes;
        }
        if (liveBlocks == 0 || freeBytes == 0)
            continue;
        PinnedSegment pinned{ number, segment.activeBytes, freeBytes, {} };
        for (std::size_t i = 0; i < blocks.size(); ++i)
            if (!blocks[i].isFree())
                pinned.pins.push_back({ blocks[i].block, blocks[i].bytes,
                    map.event - std::max<EventIndex>(-1, trace.blocks().birth(blocks[i].block)),
                    kept ? 0 : returnableBytes(segment, blocks, i, liveBlocks, page), blocks[i].pending });
        std::ranges::stable_sort(pinned.pins, std::greater{}, &Pin::bytes);
        result.pinned.push_back(std::move(pinned));
    }
    std::ranges::stable_sort(result.pinned, std::greater{}, &PinnedSegment::freeBytes);
    result.streams = largestFirst(byStream);
    result.pools = largestFirst(byPool);
    return result;
}

std::vector<Fragmentation> fragmentationOver(const DeviceTimeline& timeline, const ReplayReport* report,
    std::span<const EventIndex> events, const std::stop_token& stop)
{
    const AllocatorSettings settings = report != nullptr ? report->settings : AllocatorSettings();
    std::vector<Fragmentation> all;
    all.reserve(events.size());
    for (const EventIndex event : events) {
        if (stop.stop_requested())
            break;
        const AllocatorMap map
            = allocatorMapAt(timeline.trace(), event, timeline.live().liveAtUnordered(event), report);
        all.push_back(fragmentationOf(timeline.trace(), map, settings));
        all.back().pinned.clear();
        all.back().streams.clear();
        all.back().pools.clear();
    }
    return all;
}

std::vector<EventIndex> evenInstants(const DeviceTimeline& timeline, Axis axis, int count)
{
    const Clock& clock = timeline.clock();
    const ColumnWindow window = wholeTrace(axis, clock, count);
    const std::vector<EventIndex> edges = columnEdges(window, clock);
    std::vector<EventIndex> events;
    for (int column = 0; column < count; ++column) {
        const auto [first, last] = eventsOfColumn(edges, column);
        events.push_back(first <= last ? instantWithin(timeline, first, last) : last);
    }
    return events;
}

} // namespace strata::model
