// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/raster/curve_spans.h"

#include "tests/support/random_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace strata;
using namespace strata::views;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(CurveSpans, LevelPartsAreOneRectangle)
{
    const YMapping y({ 0, 100 }, 100);
    EXPECT_THAT(curveSpans({ { 50, 50, 0 }, { 50, 50, 0 }, { 50, 50, 0 } }, y, 2),
        ElementsAre(PixelSpan{ 0, 3, 48, 50 }));
}

TEST(CurveSpans, HaveNoGaps)
{
    const YMapping y({ 0, 100 }, 100);
    // Up from 10 to 60, then down to 20..30.
    EXPECT_THAT(curveSpans({ { 10, 10, 0 }, { 60, 60, 1 }, { 20, 30, 2 } }, y, 2),
        ElementsAre(PixelSpan{ 0, 1, 88, 90 }, PixelSpan{ 1, 2, 38, 90 }, PixelSpan{ 2, 3, 38, 80 }));
}

TEST(CurveSpans, AreClippedAtTheEdges)
{
    const YMapping y({ 20, 40 }, 20);
    EXPECT_THAT(curveSpans({ { 0, 100, 0 } }, y, 2), ElementsAre(PixelSpan{ 0, 1, 0, 20 }));
    EXPECT_THAT(curveSpans({ { 100, 100, 0 }, { 100, 100, 0 } }, y, 2), IsEmpty());
    EXPECT_THAT(areaSpans({ { 10, 30, 0 } }, y), ElementsAre(PixelSpan{ 0, 1, 10, 20 }));
}

TEST(CurveSpans, CapsStandUponTheHighestValueAlone)
{
    const YMapping y({ 0, 100 }, 100);
    EXPECT_THAT(capSpans({ { 10, 60, 0 }, { 60, 60, 1 }, { 20, 30, 2 }, { 0, 100, 3 } }, y, 1),
        ElementsAre(PixelSpan{ 0, 2, 39, 40 }, PixelSpan{ 2, 3, 69, 70 }));
}

TEST(CurveSpans, PendingIsTheTopOfRequested)
{
    CurveColumns curves;
    curves.requested = { { 80, 80, 0 }, { 80, 80, 0 }, { 80, 80, 0 } };
    curves.pending = { 0, 30, 30 };
    EXPECT_THAT(pendingSpans(curves, YMapping({ 0, 100 }, 100)), ElementsAre(PixelSpan{ 1, 3, 20, 50 }));
}

TEST(CurveSpans, EveryColumnHasTheExtremesOfItsEvents)
{
    const auto recording = test::randomRecording({ .seed = 5, .events = 3000, .deferredFrees = 0.3 });
    const auto trace = model::DeviceTrace::build(*recording, recording->devices.front(), {});
    const model::DeviceTimeline timeline(*trace);
    const XMapping x(model::Axis::Events, { -1, 3000 }, 150);
    const CurveColumns curves = curveColumnsOf(timeline, nullptr, x);
    ASSERT_EQ(curves.requested.size(), 150u);
    const auto edges = model::columnEdges(x.window(), timeline.clock());
    for (int c = 0; c < 150; ++c) {
        const auto column = static_cast<std::size_t>(c);
        const auto events = model::eventsOfColumn(edges, c);
        std::int64_t highest = 0;
        for (auto e = events.first; e <= events.last; ++e)
            highest = std::max(highest, timeline.requested().at(e));
        EXPECT_EQ(curves.requested[column].max, highest);
        EXPECT_EQ(timeline.requested().at(eventOfColumn(curves, c)), highest);
        if (!curves.pending.empty()) {
            EXPECT_EQ(curves.pending[column], timeline.pendingFree().at(eventOfColumn(curves, c)));
        }
    }
}
