// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// A segment that is there when the recording begins. Valid as long as the trace.
struct StartSegment {
    const SegmentLife* life = nullptr;
    std::vector<std::uint32_t> older; ///< rows of the blocks from before recording in it, by address

    [[nodiscard]] bool isSmall() const;
    [[nodiscard]] bool isCached() const { return older.empty(); } ///< holds no block
};

/// By address. O((segments + older blocks) log segments).
[[nodiscard]] std::vector<StartSegment> startSegmentsOf(const DeviceTrace& trace);

/// Bytes of those of the large pool that hold no block, in that order.
[[nodiscard]] std::vector<std::int64_t> cachedAtStart(const DeviceTrace& trace);

} // namespace strata::model
