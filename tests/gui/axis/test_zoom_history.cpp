// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/viewport.h"

#include "tests/support/make_recording.h"

#include <gtest/gtest.h>

using namespace strata;
using views::Span;
using views::Viewport;
using views::ViewWindow;
using views::ZoomHistory;

namespace {

ViewWindow window(double begin, double end)
{
    return { { begin, end }, {} };
}

} // namespace

TEST(ZoomHistory, MovesWithinHalfASecondAreOneEntry)
{
    ZoomHistory history;
    history.leaving(window(0, 100), 1000);
    history.leaving(window(10, 90), 1200); // joins
    history.leaving(window(20, 80), 1699); // joins: half a second counts from the move before
    history.leaving(window(30, 70), 5000);
    ASSERT_TRUE(history.canGoBack());
    EXPECT_EQ(history.back(window(40, 60)), window(30, 70));
    EXPECT_EQ(history.back(window(30, 70)), window(0, 100));
    EXPECT_FALSE(history.canGoBack());
    EXPECT_EQ(history.forward(window(0, 100)), window(30, 70));
    EXPECT_EQ(history.forward(window(30, 70)), window(40, 60));
    EXPECT_FALSE(history.canGoForward());
}

TEST(ZoomHistory, ANewMoveForgetsTheWayForward)
{
    ZoomHistory history;
    history.leaving(window(0, 100), 1000);
    (void)history.back(window(10, 20));
    EXPECT_TRUE(history.canGoForward());
    history.leaving(window(0, 100), 1100); // right after going back: an entry of its own
    EXPECT_FALSE(history.canGoForward());
    EXPECT_EQ(history.back(window(50, 60)), window(0, 100));
}

class ViewportTest : public testing::Test {
protected:
    ViewportTest()
        : m_recording(test::makeRecording("alloc 0x1000 512 time=0\nalloc 0x2000 512 time=10000\n"
                                          "alloc 0x3000 512 time=20000\nalloc 0x4000 512 time=90000\n"))
        , m_trace(*model::DeviceTrace::build(*m_recording, m_recording->devices.front(), {}))
        , m_clock(m_trace)
    {
        m_view.setTrace(&m_clock);
        m_view.setHeight(0, 4096);
        m_view.setHeight(1, 1 << 20);
    }

    std::unique_ptr<model::Recording> m_recording;
    model::DeviceTrace m_trace;
    model::Clock m_clock;
    Viewport m_view{ 2, 512 };
};

TEST_F(ViewportTest, ChangingTheAxisKeepsTheEvents)
{
    m_view.showX({ 1, 3 });
    m_view.setAxis(model::Axis::Time);
    EXPECT_DOUBLE_EQ(m_view.x().begin, 10'000);
    EXPECT_DOUBLE_EQ(m_view.x().end, m_view.xLimits().end);
    m_view.setAxis(model::Axis::Events);
    EXPECT_DOUBLE_EQ(m_view.x().begin, 1);
    EXPECT_FALSE(m_view.canGoBack()); // entries were in the other unit
}

TEST_F(ViewportTest, ShowingAllStaysAllOnBothAxes)
{
    EXPECT_TRUE(m_view.showsAll());
    m_view.setAxis(model::Axis::Time);
    EXPECT_TRUE(m_view.showsAll());
}

TEST_F(ViewportTest, HeightBelongsToThePicture)
{
    m_view.zoomY(0, 0.5);
    EXPECT_EQ(m_view.y(), (Span{ 0, 2048 }));
    m_view.setPicture(1);
    EXPECT_EQ(m_view.y(), (Span{ 0, 1 << 20 }));
    m_view.setPicture(0);
    EXPECT_EQ(m_view.y(), (Span{ 0, 2048 }));
}

TEST_F(ViewportTest, BackAndForth)
{
    const Span all = m_view.x();
    m_view.zoomX(2, 0.5);
    const Span zoomed = m_view.x();
    EXPECT_NE(zoomed, all);
    ASSERT_TRUE(m_view.canGoBack());
    m_view.goBack();
    EXPECT_EQ(m_view.x(), all);
    m_view.goForward();
    EXPECT_EQ(m_view.x(), zoomed);
}

TEST_F(ViewportTest, RevealMovesAsLittleAsItMust)
{
    m_view.showX({ 0, 3 });
    const Span before = m_view.x();
    m_view.reveal(1);
    EXPECT_EQ(m_view.x(), before);
    m_view.reveal(3);
    EXPECT_LE(m_view.x().begin, 3);
    EXPECT_GE(m_view.x().end, 4);
    EXPECT_DOUBLE_EQ(m_view.x().width(), before.width());
}
