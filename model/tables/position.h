// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/timeline/device_timeline.h"

#include <cstdint>
#include <string_view>

namespace strata::model {

/// What a position is for, which matters where it names a stretch of time.
enum class PositionUse : std::uint8_t {
    Instant, ///< the peak of requested bytes within it
    From, ///< its first event
    To, ///< its last
};

/// Finds the event that a position names: a number (state after that event, -1 before the first; "41,207"
/// too), "peak" (first event of the highest requested), "end" (the last event; -1 where there is none), "oom"
/// (after the last out-of-memory), "oom:K" (the K-th, from 1), "t:SECONDS" from the first event, "us:EPOCH"
/// microseconds. A time names the last event at or before it: -1 before the first, the last one after the
/// end. "step 3" names a stretch (TrainingStep::number), "backward of step 3" the first range of that name
/// within it, or else its first phase of that name; "start of", "end of" and "peak of" before it choose an
/// instant. Error::Kind::Usage for what is no position or no event
/// of the trace, NotFound for an out-of-memory, a step, a range or a clock that the trace does not have.
[[nodiscard]] Result<EventIndex> parsePosition(
    std::string_view text, const DeviceTimeline& timeline, PositionUse use = PositionUse::Instant);

/// The same without indexes: makes a clock only for a position that needs one. O(events) at worst; a step is
/// looked for among all steps by either.
[[nodiscard]] Result<EventIndex> parsePosition(
    std::string_view text, const DeviceTrace& trace, PositionUse use = PositionUse::Instant);

} // namespace strata::model
