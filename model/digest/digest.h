// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/digest/out_of_memory.h"
#include "model/trace/device_trace.h"
#include "model/wire/kinds.h"

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

/// A failed request as a digest has it.
struct OutOfMemoryDigest {
    OutOfMemoryFigures figures;
    StackId request; ///< who asked
    std::vector<StackSum> stacks; ///< of the last kDetailedOoms alone
};

/// What a summary says of one device, made when its events were at hand, so that it can be had without them.
/// Its bytes in a file are model/wire/digest_codec.h.
struct DeviceDigest {
    int device = 0;
    std::int64_t events = 0;
    std::array<std::int64_t, wire::kActionCount> actions{}; ///< how many
    std::vector<std::pair<StringId, std::int64_t>> otherActions; ///< names of Action::Other
    std::optional<std::int64_t> firstTimeNs; ///< of event 0; none without times
    std::optional<std::int64_t> peakTimeNs; ///< of the peak of requested
    std::optional<std::int64_t> latestTimeNs; ///< the highest of any event; none without times
    TraceNotes notes;
    std::int64_t requestedStart = 0, requestedPeak = 0, pendingStart = 0;
    std::int64_t reservedStart = 0, reservedPeak = 0;
    EventIndex requestedPeakEvent = -1, reservedPeakEvent = -1;
    std::int64_t olderBytes = 0; ///< at the peak of requested and older than the trace
    PeakUse peakUse;
    std::vector<StackSum> peak; ///< at the peak of requested
    std::vector<OutOfMemoryDigest> outOfMemory; ///< in order
};

/// What a summary of a recording needs: the digest of each of its devices, or none where any figure is not
/// certain. O(blocks), and a live set for each of the last out-of-memories.
[[nodiscard]] std::vector<DeviceDigest> digestsOf(std::span<const DeviceTrace> devices);

} // namespace strata::model
