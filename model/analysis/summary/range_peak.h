// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/groups.h"
#include "model/timeline/device_timeline.h"

#include <cstdint>
#include <optional>

namespace strata::model {

/// The event that stands for a range: the first one of its highest requested bytes; of an instant it is
/// itself. O(log n).
[[nodiscard]] EventIndex instantWithin(const DeviceTimeline& timeline, EventIndex first, EventIndex last);

/// The peaks of a range of events, and what filled the one of requested bytes.
struct RangePeak {
    EventIndex first = -1, last = -1; ///< the range
    std::int64_t requestedBytes = 0;
    std::optional<std::int64_t> reservedBytes; ///< nothing: the recording does not tell
    std::optional<EventIndex> reservedEvent; ///< likewise
    LiveGroups groups; ///< at the peak of requested bytes
    std::optional<std::int64_t> timeNs; ///< of that peak, since the epoch
};
/// O(events).
[[nodiscard]] RangePeak peakWithin(
    const DeviceTrace& trace, const GroupTable& table, EventIndex first, EventIndex last);

} // namespace strata::model
