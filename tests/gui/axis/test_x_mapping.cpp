// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/x_mapping.h"

#include "tests/support/make_recording.h"

#include <gtest/gtest.h>

#include <random>

using namespace strata;
using views::Span;
using views::XMapping;
using views::YMapping;

TEST(XMapping, ColumnsAndValues)
{
    struct Row {
        const char* state;
        Span view;
        int columns;
        double value, column;
    };
    // Whole, zoomed in, zoomed in further than a column an event, panned.
    const Row rows[] = {
        { "whole, first", { 0, 1000 }, 100, 0, 0 },
        { "whole, middle", { 0, 1000 }, 100, 500, 50 },
        { "whole, end", { 0, 1000 }, 100, 1000, 100 },
        { "zoomed, begin", { 200, 300 }, 100, 200, 0 },
        { "zoomed, inside", { 200, 300 }, 100, 217, 17 },
        { "zoomed, left of it", { 200, 300 }, 100, 190, -10 },
        { "zoomed, right of it", { 200, 300 }, 100, 310, 110 },
        { "an event is ten columns", { 40, 50 }, 100, 43, 30 },
        { "before the first event", { -1, 9 }, 100, -1, 0 },
        { "fractions", { 0.25, 0.75 }, 1000, 0.5, 500 },
    };
    for (const Row& row : rows) {
        const XMapping mapping(model::Axis::Events, row.view, row.columns);
        EXPECT_DOUBLE_EQ(mapping.columnOf(row.value), row.column) << row.state;
        EXPECT_DOUBLE_EQ(mapping.valueAt(row.column), row.value) << row.state;
    }
}

TEST(XMapping, NothingToShowGivesNoNumbersOutOfRange)
{
    const XMapping empty;
    EXPECT_EQ(empty.columnOf(5), 0);
    EXPECT_EQ(empty.valueAt(5), 0);
    const YMapping flat({ 10, 10 }, 100);
    EXPECT_EQ(flat.rowOf(10), 100);
}

TEST(YMapping, GrowsUpward)
{
    const YMapping y({ 0, 1024 }, 512);
    EXPECT_DOUBLE_EQ(y.rowOf(0), 512);
    EXPECT_DOUBLE_EQ(y.rowOf(1024), 0);
    EXPECT_DOUBLE_EQ(y.rowOf(512), 256);
    EXPECT_DOUBLE_EQ(y.bytesAt(0), 1024);
    EXPECT_DOUBLE_EQ(y.bytesAt(512), 0);
    EXPECT_DOUBLE_EQ(YMapping({ 100, 200 }, 10).rowOf(150), 5);
}

TEST(Zoom, KeepsTheValueUnderTheCursor)
{
    const Span limits{ 0, 1e6 };
    std::mt19937 random(7);
    std::uniform_real_distribution<double> share(0.01, 0.99), step(0.3, 1.5);
    Span view{ 400'000, 600'000 };
    for (int i = 0; i < 500; ++i) {
        const double column = share(random) * 1600;
        const XMapping before(model::Axis::Events, view, 1600);
        const double anchor = before.valueAt(column);
        const Span next = views::zoomSpan(view, anchor, step(random), limits, 1);
        ASSERT_GE(next.begin, limits.begin);
        ASSERT_LE(next.end, limits.end);
        if (next.begin > limits.begin && next.end < limits.end) {
            const XMapping after(model::Axis::Events, next, 1600);
            ASSERT_NEAR(after.columnOf(anchor), column, 1e-3);
        }
        view = next;
        if (view.width() < 2 || view == limits)
            view = { 400'000, 600'000 };
    }
}

TEST(Zoom, InAndOutAtOnePlaceComesBack)
{
    const Span limits{ -1, 6'300'000 };
    Span view = limits;
    for (int i = 0; i < 40; ++i)
        view = views::zoomSpan(view, 4'915'000, 0.8, limits, 1);
    for (int i = 0; i < 60; ++i)
        view = views::zoomSpan(view, 4'915'000, 1.25, limits, 1);
    EXPECT_EQ(view, limits);
}

TEST(Zoom, EndsAtTheNarrowestAndAtAll)
{
    const Span limits{ 0, 100 };
    EXPECT_DOUBLE_EQ(views::zoomSpan({ 10, 12 }, 11, 0.001, limits, 1).width(), 1);
    EXPECT_EQ(views::zoomSpan({ 10, 90 }, 50, 100, limits, 1), limits);
    // At the edge the view stays within the limits.
    EXPECT_EQ(views::zoomSpan({ 0, 10 }, 10, 2, limits, 1), (Span{ 0, 20 }));
    // A trace of one event is never narrower than itself.
    EXPECT_EQ(views::zoomSpan({ 0, 0.5 }, 0.2, 0.5, { 0, 0.5 }, 1), (Span{ 0, 0.5 }));
}

TEST(Clamp, PushesBackIn)
{
    const Span limits{ 0, 100 };
    EXPECT_EQ(views::clampSpan({ -20, 10 }, limits, 1), (Span{ 0, 30 }));
    EXPECT_EQ(views::clampSpan({ 90, 120 }, limits, 1), (Span{ 70, 100 }));
    EXPECT_EQ(views::clampSpan({ -50, 150 }, limits, 1), limits);
    EXPECT_EQ(views::clampSpan({ 50, 50 }, limits, 4), (Span{ 48, 52 })); // grows around its middle
    EXPECT_EQ(views::clampSpan({ 30, 40 }, limits, 1), (Span{ 30, 40 }));
}

namespace {

/// A trace of three events at 0, 10 and 40 us.
struct Trace {
    std::unique_ptr<model::Recording> recording;
    model::DeviceTrace trace;
    model::Clock clock;

    explicit Trace(const char* text)
        : recording(test::makeRecording(text))
        , trace(*model::DeviceTrace::build(*recording, recording->devices.front(), {}))
        , clock(trace)
    {
    }
};

} // namespace

TEST(XMapping, SpansOfAnAxis)
{
    const Trace t("alloc 0x1000 512 time=5000\nalloc 0x2000 512 time=15000\nalloc 0x3000 512 time=45000\n");
    const Span events = XMapping::wholeSpan(model::Axis::Events, t.clock);
    EXPECT_LE(events.begin, 0);
    EXPECT_GE(events.end, 3);
    const Span time = XMapping::wholeSpan(model::Axis::Time, t.clock);
    EXPECT_LE(time.begin, 0);
    EXPECT_GT(time.end, 40'000);
    EXPECT_DOUBLE_EQ(XMapping::endOf(model::Axis::Events, t.clock, 1), 2);
    EXPECT_DOUBLE_EQ(XMapping::endOf(model::Axis::Time, t.clock, 0), 10'000);
    EXPECT_DOUBLE_EQ(XMapping::endOf(model::Axis::Time, t.clock, 2), time.end);
}

TEST(XMapping, NoEventsStillHaveAWidth)
{
    const Trace t("segment 0x1000 2097152 small\nblock 0x1000 512 allocated\n");
    EXPECT_GT(XMapping::wholeSpan(model::Axis::Events, t.clock).width(), 0);
    EXPECT_GT(XMapping::wholeSpan(model::Axis::Time, t.clock).width(), 0);
}
