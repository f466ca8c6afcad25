// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"

#include <cstdint>
#include <vector>

namespace strata::model {

enum class Axis : std::uint8_t { Events, Time };

/// The horizontal window of a picture: `columns` pixel columns over [begin, end). On the event axis a
/// position is an event's index, and the state after event e spans [e, e + 1); on the time axis it is
/// nanoseconds since Clock::startNs() (not since the epoch: a double would lose the last 256 ns).
struct ColumnWindow {
    Axis axis = Axis::Events;
    double begin = 0;
    double end = 0;
    int columns = 0;

    [[nodiscard]] double width() const
    {
        return columns > 0 ? (end - begin) / columns : 0;
    } ///< of one column
    friend bool operator==(const ColumnWindow&, const ColumnWindow&) = default;
};

/// First and last event whose state a pixel column shows: the events that happen in it, all of them, or the
/// last one before it (first == last) if none does.
struct ColumnEvents {
    EventIndex first = -1;
    EventIndex last = -1;
    friend bool operator==(const ColumnEvents&, const ColumnEvents&) = default;
};

/// For every column and one more the first event at or after the column's left edge: column c holds the
/// events edges[c] .. edges[c + 1] - 1. O(columns), on the time axis times log n.
[[nodiscard]] std::vector<EventIndex> columnEdges(const ColumnWindow& window, const Clock& clock);

[[nodiscard]] ColumnEvents eventsOfColumn(const std::vector<EventIndex>& edges, int column);
[[nodiscard]] ColumnEvents eventsOfColumn(const ColumnWindow& window, const Clock& clock, int column);

/// Where the state after event `e` begins on the axis.
[[nodiscard]] double axisPosition(Axis axis, const Clock& clock, EventIndex e);

/// The event whose state holds at a position of the axis; clamped to the trace, -1 before the first event.
[[nodiscard]] EventIndex eventAtPosition(Axis axis, const Clock& clock, double position);

/// The window that shows all: from the state before the first event to a little after the last one.
[[nodiscard]] ColumnWindow wholeTrace(Axis axis, const Clock& clock, int columns);

} // namespace strata::model
