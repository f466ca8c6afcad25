// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/allocator_map.h"

#include "model/digest/out_of_memory.h"
#include "model/trace/rounded_sizes.h"

#include <algorithm>

namespace strata::model {

namespace {

/// The size of a block, with what it is made of.
MapBlock blockOf(const DeviceTrace& trace, BlockId id, EventIndex event, const ReplayReport* report)
{
    const BlockColumns& blocks = trace.blocks();
    MapBlock block;
    block.block = id;
    block.address = blocks.address[id];
    block.requestedBytes = blocks.requestedBytes[id];
    block.pending = blocks.pendingAt(id, event);
    // A recording may be damaged: nothing here may overflow.
    const std::int64_t requested = std::clamp<std::int64_t>(block.requestedBytes, 1, std::int64_t{ 1 } << 60);
    const std::int64_t rounded
        = (report != nullptr ? report->settings : AllocatorSettings()).roundedBytes(requested);
    const auto more = RoundedSizes(trace, report != nullptr ? &report->check.rounding : nullptr).rounding(id);
    block.determined = more.has_value();
    block.bytes = more ? requested + *more : rounded;
    block.roundingBytes = std::min(rounded, block.bytes) - requested;
    block.unsplitBytes = std::max<std::int64_t>(0, block.bytes - rounded);
    return block;
}

std::vector<MapSegment> segmentsAt(const DeviceTrace& trace, EventIndex event)
{
    std::vector<MapSegment> segments;
    for (const SegmentLife& life : trace.segmentLives())
        if (life.liveAt(event)) {
            MapSegment segment;
            segment.address = life.address;
            segment.bytes = life.bytes;
            segment.stream = life.stream;
            segment.pool = life.pool;
            segment.expandable = life.expandable;
            segments.push_back(segment);
        }
    std::ranges::sort(segments, {}, &MapSegment::address);
    // What was mapped in pieces is one stretch, as PyTorch tells of it.
    std::size_t kept = 0;
    for (std::size_t i = 1; i < segments.size(); ++i) {
        MapSegment& last = segments[kept];
        const MapSegment& next = segments[i];
        if (last.expandable && next.expandable
            && last.address + static_cast<std::uint64_t>(last.bytes) == next.address
            && last.stream == next.stream && last.pool == next.pool)
            last.bytes += next.bytes;
        else
            segments[++kept] = next;
    }
    if (!segments.empty())
        segments.resize(kept + 1);
    return segments;
}

} // namespace

std::string_view stateName(const MapBlock& block)
{
    if (block.isFree())
        return "inactive";
    return block.pending ? "active_pending_free" : "active_allocated";
}

bool isSmall(const Recording& recording, const MapSegment& segment)
{
    const SegmentKind kind
        = segment.pool == kNoIndex ? SegmentKind::Unknown : recording.pools[segment.pool].kind;
    return kind == SegmentKind::Unknown ? segment.bytes <= AllocatorSettings::kSmallSegment
                                        : kind == SegmentKind::Small;
}

AllocatorMap allocatorMapAt(
    const DeviceTrace& trace, EventIndex event, std::span<const BlockId> active, const ReplayReport* report)
{
    AllocatorMap map;
    map.event = event;
    const bool consistent = std::ranges::none_of(
        trace.findings(), [](const Finding& finding) { return isBreach(finding.check); });
    const bool atEnd = event + 1 == trace.eventCount() && trace.endKnown() && consistent;
    map.exact = atEnd || (report != nullptr && report->exactAt(event));
    map.segments = segmentsAt(trace, event);

    std::vector<MapBlock> blocks;
    blocks.reserve(active.size());
    for (const BlockId id : active)
        blocks.push_back(blockOf(trace, id, event, report));
    std::ranges::sort(blocks, {}, &MapBlock::address);

    auto next = blocks.begin();
    for (MapSegment& segment : map.segments) {
        segment.firstBlock = static_cast<std::uint32_t>(map.blocks.size());
        const std::uint64_t end = segment.address + static_cast<std::uint64_t>(segment.bytes);
        std::uint64_t at = segment.address;
        bool determined = true; // where what is free begins
        const auto addFree = [&](std::uint64_t until) {
            if (until <= at)
                return;
            MapBlock free;
            free.address = at;
            free.bytes = static_cast<std::int64_t>(until - at);
            free.determined = determined;
            map.blocks.push_back(free);
            at = until;
        };
        while (next != blocks.end() && next->address < segment.address)
            ++next; // of a segment that the recording does not have
        for (; next != blocks.end() && next->address < end; ++next) {
            if (next->address < at) // overlaps: a breach, reported as one
                continue;
            addFree(next->address);
            MapBlock block = *next;
            block.bytes = std::min(block.bytes, static_cast<std::int64_t>(end - block.address));
            segment.activeBytes += block.bytes;
            segment.allocatedBytes += block.pending ? 0 : block.bytes;
            segment.requestedBytes += block.requestedBytes;
            map.exact = map.exact && block.determined;
            determined = block.determined;
            at = block.end();
            map.blocks.push_back(block);
        }
        addFree(end);
        segment.blockCount = static_cast<std::uint32_t>(map.blocks.size()) - segment.firstBlock;
    }
    return map;
}

AllocatorMap allocatorMapAt(const DeviceTrace& trace, EventIndex event, const ReplayReport* report)
{
    return allocatorMapAt(trace, event, activeBlocks(trace, event), report);
}

} // namespace strata::model
