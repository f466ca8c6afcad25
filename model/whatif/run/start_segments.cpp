// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/start_segments.h"

#include <algorithm>

namespace strata::model {

bool StartSegment::isSmall() const
{
    constexpr std::int64_t kSmallSegment = std::int64_t{ 2 } << 20; // kSmallBuffer of CUDACachingAllocator
    return life->bytes <= kSmallSegment;
}

std::vector<StartSegment> startSegmentsOf(const DeviceTrace& trace)
{
    std::vector<StartSegment> segments;
    for (const SegmentLife* const life : trace.segments().byAddress())
        if (!life->alloc.valid())
            segments.push_back({ life, {} });
    const BlockColumns& blocks = trace.blocks();
    std::vector<std::uint32_t> rows(blocks.olderCount());
    for (std::uint32_t row = 0; row < rows.size(); ++row)
        rows[row] = row;
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

} // namespace strata::model
