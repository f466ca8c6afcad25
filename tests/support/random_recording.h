// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/recording.h"

#include <cstdint>
#include <memory>

namespace strata::test {

/// What randomRecording() makes. Shares are probabilities from 0 to 1.
struct RandomTrace {
    std::uint32_t seed = 1;
    int devices = 1;
    std::int64_t events = 1000; ///< of each device
    int liveBlocks = 60; ///< about as many are live once it runs
    int streams = 1;
    int stacks = 20;
    double before = 0.3; ///< how much of the run lies before the trace, as a share of `events`
    double deferredFrees = 0; ///< share of frees that wait for another stream
    double privatePools = 0; ///< share of allocations from pool (0,1)
    double outOfMemory = 0; ///< share of steps that end as an out-of-memory
    double anomalies = 0; ///< share of events lost, doubled, moved, resized or swapped
    bool expandable = false; ///< segments grow and shrink by map and unmap
    bool times = true;
};

/// The recording of a run of a small caching allocator: rounding, best fit, splitting, merging, segments that
/// come and go, and the segments that are left at the end. Without anomalies trace and end state agree to the
/// byte. The same options give the same recording. About 1 us an event.
[[nodiscard]] std::unique_ptr<model::Recording> randomRecording(const RandomTrace& options);

} // namespace strata::test
