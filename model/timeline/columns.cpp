// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace strata::model {

namespace {

/// The smallest whole number at or above `position`, within what events and nanoseconds can be.
std::int64_t wholeAtOrAbove(double position)
{
    constexpr double kLimit = 9.0e18;
    if (std::isnan(position))
        return 0;
    return static_cast<std::int64_t>(std::ceil(std::clamp(position, -kLimit, kLimit)));
}

std::int64_t addClamped(std::int64_t a, std::int64_t b)
{
    std::int64_t sum = 0;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    return sum;
}

/// How many events lie before a position of the axis: the index of the first one at or after it.
EventIndex eventsBefore(Axis axis, const Clock& clock, double position)
{
    const std::int64_t whole = wholeAtOrAbove(position);
    if (axis == Axis::Events || !clock.hasTimes())
        return std::clamp<EventIndex>(whole, 0, clock.eventCount());
    return clock.eventAt(addClamped(addClamped(clock.startNs(), whole), -1)) + 1;
}

ColumnEvents eventsBetween(EventIndex first, EventIndex next)
{
    return first < next ? ColumnEvents{ first, next - 1 } : ColumnEvents{ first - 1, first - 1 };
}

double edge(const ColumnWindow& window, int column)
{
    return window.begin + (window.end - window.begin) * column / std::max(window.columns, 1);
}

} // namespace

std::vector<EventIndex> columnEdges(const ColumnWindow& window, const Clock& clock)
{
    std::vector<EventIndex> edges;
    edges.reserve(static_cast<std::size_t>(std::max(window.columns, 0)) + 1);
    for (int column = 0; column <= std::max(window.columns, 0); ++column) {
        const EventIndex next = eventsBefore(window.axis, clock, edge(window, column));
        edges.push_back(edges.empty() ? next : std::max(next, edges.back()));
    }
    return edges;
}

ColumnEvents eventsOfColumn(const std::vector<EventIndex>& edges, int column)
{
    const auto c = static_cast<std::size_t>(column);
    return eventsBetween(edges[c], edges[c + 1]);
}

ColumnEvents eventsOfColumn(const ColumnWindow& window, const Clock& clock, int column)
{
    return eventsBetween(eventsBefore(window.axis, clock, edge(window, column)),
        eventsBefore(window.axis, clock, edge(window, column + 1)));
}

double axisPosition(Axis axis, const Clock& clock, EventIndex e)
{
    if (axis == Axis::Events || !clock.hasTimes())
        return static_cast<double>(std::clamp<EventIndex>(e, -1, clock.eventCount()));
    // Unsigned: exact however far apart the two are, since no time lies before the start.
    return static_cast<double>(
        static_cast<std::uint64_t>(clock.timeNs(e)) - static_cast<std::uint64_t>(clock.startNs()));
}

EventIndex eventAtPosition(Axis axis, const Clock& clock, double position)
{
    if (axis == Axis::Events || !clock.hasTimes()) {
        const double last = static_cast<double>(clock.eventCount() - 1);
        return static_cast<EventIndex>(
            std::clamp(std::floor(std::isnan(position) ? 0 : position), -1.0, last));
    }
    return eventsBefore(axis, clock, std::floor(position) + 1) - 1;
}

ColumnWindow wholeTrace(Axis axis, const Clock& clock, int columns)
{
    if (axis == Axis::Events || !clock.hasTimes())
        return { Axis::Events, -1, static_cast<double>(std::max<EventIndex>(clock.eventCount(), 0)),
            columns };
    const double length = axisPosition(axis, clock, clock.eventCount() - 1);
    return { axis, 0, length + std::max(length / 500, 1000.0), columns };
}

} // namespace strata::model
