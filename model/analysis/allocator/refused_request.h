// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"

#include <cstdint>
#include <optional>

namespace strata::model {

/// A request that was refused, and what PyTorch could have then. Bytes.
struct RefusedRequest {
    EventIndex event = -1;
    std::int64_t reservedBytes = 0; ///< of segments
    std::int64_t deviceFreeBytes = 0; ///< as the driver said
    std::optional<std::int64_t>
        capacityBytes; ///< of the device; what was available, where nothing else shows it
    std::optional<std::int64_t> allowedBytes; ///< by a memory fraction, where one is recorded
    std::int64_t leftBytes = 0; ///< what the driver could still give: less than it had, above a fraction
    /// The driver had room for the segment, so that a memory fraction refused it, recorded or not.
    bool isLimited = false;

    [[nodiscard]] std::int64_t availableBytes() const; ///< of segments and of the driver
    [[nodiscard]] std::int64_t roomBytes() const; ///< what segments could take in all
};

/// Of the out-of-memory at `event`, when `reservedBytes` were reserved.
[[nodiscard]] RefusedRequest refusedRequestAt(
    const DeviceTrace& trace, const ReplayReport& report, EventIndex event, std::int64_t reservedBytes);

/// The last one; none: no request was refused. O(events) where one was.
[[nodiscard]] std::optional<RefusedRequest> lastRefusedRequest(
    const DeviceTrace& trace, const ReplayReport& report);

} // namespace strata::model
