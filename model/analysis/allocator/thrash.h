// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strata::model {

/// Memory that the allocator gave back to the driver and soon took again: calls of cudaFree and cudaMalloc,
/// of which each waits for the device.
struct Thrash {
    enum class Cause : std::uint8_t {
        EmptyCache, ///< the program called empty_cache()
        Retry, ///< a request did not fit: cached memory of other sizes was released for it
        GarbageCollection, ///< garbage_collection_threshold
    };
    struct CauseBytes {
        Cause cause = Cause::Retry;
        std::int64_t bytes = 0; ///< given back
        std::int64_t calls = 0; ///< of empty_cache(), or requests
    };

    std::int64_t cycledBytes = 0; ///< given back and taken again within a step; without steps, in the trace
    std::int64_t givenBackBytes = 0;
    std::int64_t deviceFrees = 0, deviceMallocs = 0; ///< segment_free and _unmap, segment_alloc and _map
    std::int64_t lostNs = 0; ///< from a release to the request that it was for; 0 where times are not real
    bool timesAreReal = false;
    bool hasSteps = false;
    std::vector<CauseBytes> causes; ///< most bytes first
};

[[nodiscard]] std::string_view causeName(Thrash::Cause cause); ///< "empty_cache", "retry", ...

/// How much memory went to the driver and came again, in how many calls, and why. Empty: none went.
[[nodiscard]] std::vector<Sentence> sayThrash(const Thrash& thrash);

/// O(events).
[[nodiscard]] Thrash thrashOf(const DeviceTrace& trace, const ReplayReport& report);

} // namespace strata::model
