// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/device_timeline.h"

#include <cstdint>
#include <optional>

namespace strata::model {

/// Bytes that are reserved after an event; nothing where the recording does not tell
/// (Totals::reservedKnown). O(log n).
[[nodiscard]] inline std::optional<std::int64_t> reservedAt(const DeviceTimeline& timeline, EventIndex event)
{
    return timeline.trace().totals().reservedKnown ? std::optional(timeline.reserved().at(event))
                                                   : std::nullopt;
}

} // namespace strata::model
