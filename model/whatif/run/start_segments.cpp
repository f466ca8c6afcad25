// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/start_segments.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <numeric>

namespace strata::model {

bool StartSegment::isSmall() const
{
    return life->bytes <= AllocatorSettings::kSmallSegment;
}

std::vector<StartSegment> startSegmentsOf(const DeviceTrace& trace)
{
    std::vector<StartSegment> segments;
    for (const SegmentLife* const life : trace.segments().byAddress())
        if (!life->alloc.valid())
            segments.push_back({ life, {} });
    const BlockColumns& blocks = trace.blocks();
    std::vector<std::uint32_t> rows(blocks.olderCount());
    std::iota(rows.begin(), rows.end(), 0);
    std::ranges::stable_sort(
        rows, {}, [&](std::uint32_t row) { return blocks.address[BlockId::older(row)]; });
    for (const std::uint32_t row : rows) {
        const std::uint64_t address = blocks.address[BlockId::older(row)];
        const auto behind = std::ranges::upper_bound(
            segments, address, {}, [](const StartSegment& segment) { return segment.life->address; });
        if (behind != segments.begin() && address < std::prev(behind)->life->end())
            std::prev(behind)->older.push_back(row);
    }
    return segments;
}

std::vector<std::int64_t> cachedAtStart(const DeviceTrace& trace)
{
    std::vector<std::int64_t> bytes;
    for (const StartSegment& segment : startSegmentsOf(trace))
        if (segment.isCached() && !segment.isSmall())
            bytes.push_back(segment.life->bytes);
    return bytes;
}

SegmentLayout layoutOf(const DeviceTrace& trace, const StartSegment& segment,
    const AllocatorSettings& settings, const std::function<std::int64_t(std::uint32_t row)>& bytesOf)
{
    const BlockColumns& blocks = trace.blocks();
    SegmentLayout layout;
    std::int64_t used = 0, more = 0; // gaps and blocks; than as recorded
    std::uint64_t at = segment.life->address;
    for (const std::uint32_t row : segment.older) {
        const std::uint64_t address = blocks.address[BlockId::older(row)];
        const std::int64_t recorded = settings.roundedBytes(blocks.requestedBytes[BlockId::older(row)]);
        const std::int64_t bytes = settings.roundedBytes(bytesOf(row));
        layout.gaps.push_back(address > at ? static_cast<std::int64_t>(address - at) : 0);
        used = wrapAdd(used, wrapAdd(layout.gaps.back(), bytes));
        more = wrapAdd(more, wrapSub(bytes, recorded));
        at = address + static_cast<std::uint64_t>(recorded);
    }
    layout.bytes = segment.life->bytes;
    if (!segment.isSmall() && (more != 0 || layout.bytes < AllocatorSettings::kMinLargeAlloc)) {
        // Requests below kMinLargeAlloc share segments of that size: one grows where they need more.
        const std::int64_t grown
            = layout.bytes == settings.largeSegmentBytes ? layout.bytes : wrapAdd(layout.bytes, more);
        layout.bytes = settings.segmentBytes(std::max({ grown, used, AllocatorSettings::kSmallSize + 1 }));
    }
    layout.gaps.push_back(wrapSub(layout.bytes, used));
    return layout;
}

} // namespace strata::model
