// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/allocator_settings.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace strata::model {

/// A segment that is there when the recording begins. Valid as long as the trace.
struct StartSegment {
    const SegmentLife* life = nullptr;
    std::vector<std::uint32_t> older; ///< rows of the blocks from before recording in it, by address

    [[nodiscard]] bool isSmall() const; ///< of the small pool, by its size
    [[nodiscard]] bool isCached() const { return older.empty(); } ///< holds no block
};

/// By address. O((segments + older blocks) log segments).
[[nodiscard]] std::vector<StartSegment> startSegmentsOf(const DeviceTrace& trace);

/// Bytes of those of the large pool that hold no block, in that order.
[[nodiscard]] std::vector<std::int64_t> cachedAtStart(const DeviceTrace& trace);

/// Where blocks are in a segment that is made anew. Bytes.
struct SegmentLayout {
    std::int64_t bytes = 0; ///< of the segment
    std::vector<std::int64_t> gaps; ///< before each block of StartSegment::older, and behind the last
};

/// A segment once its blocks have other sizes: `bytesOf(row)` requested bytes. Gaps between blocks stay. A
/// large segment grows and shrinks with its blocks, as far as the allocator makes such segments with those
/// settings.
[[nodiscard]] SegmentLayout layoutOf(const DeviceTrace& trace, const StartSegment& segment,
    const AllocatorSettings& settings, const std::function<std::int64_t(std::uint32_t row)>& bytesOf);

} // namespace strata::model
