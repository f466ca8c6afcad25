// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/sentence.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// What the driver handed out of a device's memory beside the segments of PyTorch's allocator, while it was
/// recorded: to libraries and kernels of the program's own that call cudaMalloc themselves. Pinned and
/// pageable memory is none of the device's. Bytes, and nanoseconds since the epoch. A value.
struct OutsideMemory {
    int device = 0;
    std::int64_t allocations = 0; ///< all that the driver made, segments included
    std::int64_t segments = 0; ///< those of them that are segments of PyTorch's allocator
    std::int64_t releases = 0; ///< of allocations and of what was there before
    std::int64_t releasedOutside = 0; ///< of allocations outside of PyTorch
    std::int64_t peakBytes = 0; ///< of those outside, at most at once
    std::optional<std::int64_t> peakNs; ///< when that was reached first
    std::int64_t endBytes = 0; ///< of those outside, not released by the end
    std::int64_t olderBytes = 0; ///< released, of what was there before and no segment that is known
    /// Events of the allocator are missing: what seems to be outside may be segments.
    bool mayBeSegments = false;

    [[nodiscard]] std::int64_t outside() const { return allocations - segments; }
};

/// By device, those of which the driver told. A segment is recognised by its address: its event follows the
/// call that made it. Any thread; O(n log n) in rows and events of segments, O(events) besides.
[[nodiscard]] std::vector<OutsideMemory> outsideMemoryOf(const Recording& recording);

/// A sentence for each device with something outside.
[[nodiscard]] std::vector<Sentence> sayOutsideMemory(const std::vector<OutsideMemory>& outside);

} // namespace strata::model
