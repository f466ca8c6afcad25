// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace strata::model {

/// Requested bytes of the blocks of one stack that are active at an instant.
struct StackSum {
    StackId stack;
    std::int64_t bytes = 0;
    std::int64_t blocks = 0;
};

/// A failed request as a digest has it; figures as in OutOfMemory of model/analysis.
struct OutOfMemoryDigest {
    EventIndex event = -1;
    std::int64_t requestedBytes = 0, deviceFreeBytes = 0;
    std::int64_t reservedBytes = 0, requestedLiveBytes = 0; ///< after the event
    std::int64_t freeInSegmentsBytes = 0;
    bool freeInSegmentsExact = false;
    std::vector<StackSum> stacks; ///< of the last few alone
};

/// What a summary says of one device, made when its events were at hand, so that it can be had without them.
struct DeviceDigest {
    int device = 0;
    std::int64_t events = 0;
    std::array<std::int64_t, static_cast<std::size_t>(Action::Other) + 1> actions{}; ///< how many
    std::vector<std::pair<StringId, std::int64_t>> otherActions; ///< names of Action::Other
    std::optional<std::int64_t> firstTimeNs; ///< of event 0; none without times
    std::optional<std::int64_t> peakTimeNs; ///< of the peak of requested
    std::optional<std::int64_t> latestTimeNs; ///< the highest of any event; none without times
    TraceNotes notes;
    std::int64_t requestedStart = 0, requestedPeak = 0, pendingStart = 0;
    std::int64_t reservedStart = 0, reservedPeak = 0;
    EventIndex requestedPeakEvent = -1, reservedPeakEvent = -1;
    std::int64_t olderBytes = 0; ///< at the peak of requested and older than the trace
    std::vector<StackSum> peak; ///< at the peak of requested
    std::vector<OutOfMemoryDigest> outOfMemory; ///< in order
};

/// A device without its events: its digest, its end state, and what follows from both.
struct DeviceOutline {
    DeviceDigest digest;
    Totals totals;
    std::vector<Finding> findings; ///< notes alone
};

/// The figures that DeviceTrace::build() would give of the device with its events. `device` has its end state
/// and no events. None where the digest contradicts itself or the end state, or anything is wrong with that:
/// then the events must be read.
[[nodiscard]] std::optional<DeviceOutline> outlineOf(
    const Recording& recording, const DeviceRecording& device, DeviceDigest digest);

} // namespace strata::model
