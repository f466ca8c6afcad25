// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"

#include <cstdint>
#include <optional>

namespace strata::model {

/// Events first..last of one device; first == last is an instant: the state after that event, -1 the one
/// before the first.
struct EventRange {
    EventIndex first = -1;
    EventIndex last = -1;
    [[nodiscard]] bool isInstant() const { return first == last; }
    friend bool operator==(const EventRange&, const EventRange&) = default;
};

/// Nanoseconds since the epoch, both ends included.
struct TimeRange {
    std::int64_t firstNs = 0;
    std::int64_t lastNs = 0;
    friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

/// What is selected, as it was made: events of a device, exact where many of them have one time, and when
/// that was. Time is what devices, streams and ranks have in common. A value; pure functions, O(log n).
struct Selection {
    int device = 0;
    EventRange events;
    std::optional<TimeRange> time; ///< nothing where its device has no times
    friend bool operator==(const Selection&, const Selection&) = default;
};

/// The time of events: that of the first and the last; the state before the first event lies before its time.
/// Nothing without times.
[[nodiscard]] std::optional<TimeRange> timeOf(EventRange events, const Clock& clock);

/// The same selection on another clock: of an instant the last event at or before it, -1 where there is none;
/// of a range the events within it, or where there are none the instant that lasts all through it. Nothing
/// without times: there is no common instant.
[[nodiscard]] std::optional<EventRange> eventsAt(TimeRange time, bool instant, const Clock& clock);

} // namespace strata::model
