// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/columns.h"

#include "tests/unit/timeline/traced.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace strata::model {
namespace {

using test::RandomCase;
using test::Traced;

const char* const kSixEvents = R"(
    alloc 0x1000 512 time=100
    alloc 0x2000 512 time=200
    alloc 0x3000 512 time=150
    alloc 0x4000 512 time=180
    alloc 0x5000 512 time=200
    alloc 0x6000 512 time=400
)";

TEST(Clock, HoldsItsTimeWhereTheRecordedOneGoesBack)
{
    const Traced t(kSixEvents);
    const Clock clock(t.trace);
    ASSERT_TRUE(clock.hasTimes());
    EXPECT_EQ(clock.startNs(), 100);
    EXPECT_EQ(clock.endNs(), 400);
    EXPECT_EQ(clock.timeNs(-1), 100);
    EXPECT_EQ(clock.timeNs(1), 200);
    EXPECT_EQ(clock.timeNs(2), 200);
    EXPECT_EQ(clock.timeNs(3), 200);
    EXPECT_EQ(clock.timeNs(5), 400);
    EXPECT_EQ(clock.timeNs(77), 400);
    EXPECT_EQ(clock.eventAt(99), -1);
    EXPECT_EQ(clock.eventAt(100), 0);
    EXPECT_EQ(clock.eventAt(199), 0);
    EXPECT_EQ(clock.eventAt(200), 4);
    EXPECT_EQ(clock.eventAt(399), 4);
    EXPECT_EQ(clock.eventAt(std::numeric_limits<std::int64_t>::max()), 5);
    EXPECT_EQ(clock.eventAt(std::numeric_limits<std::int64_t>::min()), -1);
}

TEST(Clock, WithoutTimes)
{
    const Traced t("alloc 0x1000 512");
    const Clock clock(t.trace);
    EXPECT_FALSE(clock.hasTimes());
    EXPECT_EQ(clock.startNs(), 0);
    EXPECT_EQ(clock.endNs(), 0);
    EXPECT_EQ(clock.timeNs(0), 0);
    EXPECT_EQ(clock.eventAt(5), -1);
}

TEST(Columns, OnTheTimeAxisShowAllEventsOfAnInstant)
{
    const Traced t(kSixEvents);
    const Clock clock(t.trace);
    const ColumnWindow window{ Axis::Time, 0, 400, 8 }; // 50 ns a column, from 100 ns
    const std::vector<ColumnEvents> expected{ { 0, 0 }, { 0, 0 }, { 1, 4 }, { 4, 4 }, { 4, 4 }, { 4, 4 },
        { 5, 5 }, { 5, 5 } };
    const std::vector<EventIndex> edges = columnEdges(window, clock);
    for (int column = 0; column < 8; ++column) {
        EXPECT_EQ(eventsOfColumn(edges, column), expected[static_cast<std::size_t>(column)]) << column;
        EXPECT_EQ(eventsOfColumn(window, clock, column), expected[static_cast<std::size_t>(column)])
            << column;
    }
    EXPECT_EQ(eventsOfColumn(ColumnWindow{ Axis::Time, -100, -50, 1 }, clock, 0), (ColumnEvents{ -1, -1 }));
}

TEST(Columns, OnTheEventAxisCarryTheStateIn)
{
    const Traced t(kSixEvents);
    const Clock clock(t.trace);
    const ColumnWindow half{ Axis::Events, -1, 2, 6 };
    const EventIndex expected[] = { -1, -1, 0, 0, 1, 1 };
    for (int column = 0; column < 6; ++column)
        EXPECT_EQ(eventsOfColumn(half, clock, column), (ColumnEvents{ expected[column], expected[column] }));
    const ColumnWindow beyond{ Axis::Events, 4, 10, 2 };
    EXPECT_EQ(eventsOfColumn(beyond, clock, 0), (ColumnEvents{ 4, 5 }));
    EXPECT_EQ(eventsOfColumn(beyond, clock, 1), (ColumnEvents{ 5, 5 }));
}

TEST(Columns, BadWindowsAreHarmless)
{
    const Traced t(kSixEvents);
    const Clock clock(t.trace);
    const double nan = std::nan("");
    const double inf = std::numeric_limits<double>::infinity();
    for (const Axis axis : { Axis::Events, Axis::Time })
        for (const ColumnWindow& window :
            { ColumnWindow{ axis, nan, nan, 4 }, ColumnWindow{ axis, -inf, inf, 4 },
                ColumnWindow{ axis, 5, -5, 4 }, ColumnWindow{ axis, 1e300, 2e300, 4 },
                ColumnWindow{ axis, 0, 1, 0 }, ColumnWindow{ axis, 0, 1, -3 } }) {
            const std::vector<EventIndex> edges = columnEdges(window, clock);
            ASSERT_EQ(edges.size(), static_cast<std::size_t>(std::max(window.columns, 0)) + 1);
            EXPECT_TRUE(std::is_sorted(edges.begin(), edges.end()));
            EXPECT_GE(edges.front(), 0);
            EXPECT_LE(edges.back(), 6);
        }
    for (const double position : { nan, inf, -inf, 1e300, -1e300 }) {
        EXPECT_LE(eventAtPosition(Axis::Events, clock, position), 5);
        EXPECT_GE(eventAtPosition(Axis::Time, clock, position), -1);
    }
}

TEST(Columns, WholeTraceShowsAll)
{
    for (const RandomCase& of : test::randomCases()) {
        SCOPED_TRACE(of.name);
        const Traced t = traced(of);
        const Clock clock(t.trace);
        for (const Axis axis : { Axis::Events, Axis::Time }) {
            const ColumnWindow window = wholeTrace(axis, clock, 640);
            const std::vector<EventIndex> edges = columnEdges(window, clock);
            EXPECT_EQ(edges.front(), 0);
            EXPECT_EQ(edges.back(), t.trace.eventCount());
            EXPECT_LT(axisPosition(window.axis, clock, t.trace.eventCount() - 1), window.end);
        }
    }
}

/// Every event is in exactly one column, and position and event turn into each other.
TEST(Columns, PartitionTheEvents)
{
    for (const RandomCase& of : test::randomCases()) {
        SCOPED_TRACE(of.name);
        const Traced t = traced(of);
        const Clock clock(t.trace);
        EventIndex latest = 0;
        for (EventIndex e = 0; e < t.trace.eventCount(); ++e) {
            if (clock.hasTimes()) {
                const auto& times = t.trace.events().timeNs;
                if (times[static_cast<std::size_t>(e)] >= times[static_cast<std::size_t>(latest)])
                    latest = e;
                ASSERT_EQ(clock.timeNs(e), times[static_cast<std::size_t>(latest)]) << e;
            }
            for (const Axis axis : { Axis::Events, Axis::Time }) {
                const double position = axisPosition(axis, clock, e);
                const EventIndex back = eventAtPosition(axis, clock, position);
                ASSERT_GE(back, e);
                ASSERT_EQ(axisPosition(axis, clock, back), position);
                ASSERT_LT(eventAtPosition(axis, clock, position - 0.5), e);
            }
        }
        for (const Axis axis : { Axis::Events, Axis::Time }) {
            const ColumnWindow window = wholeTrace(axis, clock, 333);
            const std::vector<EventIndex> edges = columnEdges(window, clock);
            for (int column = 0; column < window.columns; ++column) {
                const double begin = window.begin + (window.end - window.begin) * column / window.columns;
                const double end = window.begin + (window.end - window.begin) * (column + 1) / window.columns;
                for (EventIndex e = edges[static_cast<std::size_t>(column)];
                     e < edges[static_cast<std::size_t>(column) + 1]; ++e) {
                    ASSERT_LE(begin, axisPosition(window.axis, clock, e));
                    ASSERT_LT(axisPosition(window.axis, clock, e), end);
                }
            }
        }
    }
}

} // namespace
} // namespace strata::model
