// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/timeline/device_timeline.h"

#include <string_view>

namespace strata::model {

/// Finds the event that a position names: a number (state after that event, -1 before the first; "41,207"
/// too), "peak" (first event of the highest requested), "oom" (after the last out-of-memory), "oom:K" (the
/// K-th, from 1), "t:SECONDS" from the first event, "us:EPOCH" microseconds. A time names the last event at
/// or before it: -1 before the first, the last one after the end. Error::Kind::Usage for what is no position
/// or no event of the trace, NotFound for an out-of-memory or a clock that the trace does not have.
[[nodiscard]] Result<EventIndex> parsePosition(std::string_view text, const DeviceTimeline& timeline);

/// The same without indexes: makes a clock only for a position that needs one. O(events) at worst.
[[nodiscard]] Result<EventIndex> parsePosition(std::string_view text, const DeviceTrace& trace);

} // namespace strata::model
