// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/view_state.h"

#include "tests/unit/timeline/traced.h"

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

using strata::views::EventRange;
using strata::views::ViewState;

namespace {

constexpr int kLongerThanOneMoveMs = 550;

strata::model::BlockFilter atLeast(std::int64_t bytes)
{
    strata::model::BlockFilter filter;
    filter.minBytes = bytes;
    return filter;
}

TEST(ViewState, StartsWithNothingToUndo)
{
    ViewState state;
    EXPECT_FALSE(state.canUndo());
    EXPECT_FALSE(state.canRedo());
    state.undo();
    state.redo();
    EXPECT_EQ(state.value(), ViewState::Value{});
}

TEST(ViewState, UndoesNotesInTheirOrder)
{
    ViewState state;
    int told = 0;
    QObject::connect(&state, &ViewState::userChanged, &state, [&told] { ++told; });
    strata::model::UserData kept;
    kept.set({ strata::model::UserItem::Kind::Note, 1, 1, 0, 3, 3, 0, "kept", {} });
    state.reset(0, kept);
    EXPECT_FALSE(state.canUndo());
    state.select(EventRange{ 3, 9 });
    strata::model::UserData more = kept;
    more.set({ strata::model::UserItem::Kind::Note, 2, 1, 0, 4, 4, 0, "new", {} });
    state.setUser(more);
    state.setUser(more); // nothing new
    state.setDevice(1);
    EXPECT_EQ(state.user().items.size(), 2u);
    state.undo(); // the device
    state.undo();
    EXPECT_EQ(state.user(), kept);
    EXPECT_EQ(state.selection(), (EventRange{ 3, 9 }));
    state.redo();
    EXPECT_EQ(state.user(), more);
    EXPECT_EQ(told, 4);
}

TEST(ViewState, UndoesOneChangeAfterTheOther)
{
    ViewState state;
    state.select(EventRange{ 3, 9 });
    state.setFilter(atLeast(100));
    state.setFilter(atLeast(200));
    state.undo();
    EXPECT_EQ(state.filter(), atLeast(100));
    state.undo();
    EXPECT_TRUE(state.filter().empty());
    EXPECT_EQ(state.selection(), (EventRange{ 3, 9 }));
    state.undo();
    EXPECT_FALSE(state.selection());
    EXPECT_FALSE(state.canUndo());
    state.redo();
    state.redo();
    state.redo();
    EXPECT_EQ(state.filter(), atLeast(200));
    EXPECT_EQ(state.selection(), (EventRange{ 3, 9 }));
    EXPECT_FALSE(state.canRedo());
}

TEST(ViewState, MovesWithinHalfASecondAreOneEntry)
{
    ViewState state;
    for (int event = 0; event < 20; ++event)
        state.select(EventRange{ event, event });
    state.undo();
    EXPECT_FALSE(state.selection());
    EXPECT_FALSE(state.canUndo());
}

TEST(ViewState, AFilterBetweenTwoMovesSeparatesThem)
{
    ViewState state;
    state.select(EventRange{ 1, 1 });
    state.setFilter(atLeast(5));
    state.select(EventRange{ 2, 2 });
    state.undo();
    EXPECT_EQ(state.selection(), (EventRange{ 1, 1 }));
    EXPECT_EQ(state.filter(), atLeast(5));
}

TEST(ViewState, LaterMovesAreEntriesOfTheirOwn)
{
    ViewState state;
    state.select(EventRange{ 1, 1 });
    QTest::qWait(kLongerThanOneMoveMs);
    state.select(EventRange{ 2, 2 });
    state.undo();
    EXPECT_EQ(state.selection(), (EventRange{ 1, 1 }));
}

TEST(ViewState, ANewChangeDropsWhatWasUndone)
{
    ViewState state;
    state.setFilter(atLeast(1));
    state.undo();
    state.setFilter(atLeast(2));
    EXPECT_FALSE(state.canRedo());
}

TEST(ViewState, AnotherDeviceDropsSelectionAndFilterInOneEntry)
{
    ViewState state;
    state.select(EventRange{ 1, 4 });
    state.setFilter(atLeast(7));
    state.setDevice(1);
    EXPECT_FALSE(state.selection());
    EXPECT_TRUE(state.filter().empty());
    state.undo();
    EXPECT_EQ(state.device(), 0);
    EXPECT_EQ(state.selection(), (EventRange{ 1, 4 }));
    EXPECT_EQ(state.filter(), atLeast(7));
}

TEST(ViewState, SignalsOnlyWhatChanged)
{
    ViewState state;
    const QSignalSpy device(&state, &ViewState::deviceChanged);
    const QSignalSpy selection(&state, &ViewState::selectionChanged);
    const QSignalSpy filter(&state, &ViewState::filterChanged);
    state.setFilter(atLeast(3));
    state.setFilter(atLeast(3));
    EXPECT_EQ(filter.count(), 1);
    EXPECT_EQ(selection.count(), 0);
    EXPECT_EQ(device.count(), 0);
    state.setDevice(2);
    EXPECT_EQ(device.count(), 1);
    EXPECT_EQ(filter.count(), 2);
    EXPECT_EQ(selection.count(), 0);
}

TEST(ViewState, ResetForgetsTheOldSession)
{
    ViewState state;
    state.setFilter(atLeast(3));
    state.undo();
    state.reset(4);
    EXPECT_EQ(state.device(), 4);
    EXPECT_FALSE(state.canUndo());
    EXPECT_FALSE(state.canRedo());
}

TEST(ViewState, AxisAndGroupingAreNotOnTheUndoStack)
{
    ViewState state;
    const QSignalSpy axis(&state, &ViewState::axisChanged);
    const QSignalSpy grouping(&state, &ViewState::groupingChanged);
    state.setAxis(strata::model::Axis::Time);
    state.setGrouping(strata::model::Grouping::Site);
    EXPECT_EQ(axis.count(), 1);
    EXPECT_EQ(grouping.count(), 1);
    EXPECT_FALSE(state.canUndo());
}

/// Two devices with times and one without, of which the second is not there at once.
class SelectionOverDevices : public testing::Test {
protected:
    SelectionOverDevices()
    {
        m_state.setClocks([this](int device) -> const strata::model::Clock* {
            if (device == 1 && !m_secondIsThere)
                return nullptr;
            return &m_clocks[static_cast<std::size_t>(device)];
        });
    }
    void comes()
    {
        m_secondIsThere = true;
        m_state.clocksChanged();
    }

    strata::test::Traced m_traces[3]{
        strata::test::Traced(
            "alloc 0x1000 512 time=100\nalloc 0x2000 512 time=200\nalloc 0x3000 512 time=200\n"
            "alloc 0x4000 512 time=300\n"),
        strata::test::Traced(
            "alloc 0x1000 512 time=150\nalloc 0x2000 512 time=200\nalloc 0x3000 512 time=250\n"),
        strata::test::Traced("alloc 0x1000 512\nalloc 0x2000 512\n"),
    };
    strata::model::Clock m_clocks[3]{ strata::model::Clock(m_traces[0].trace),
        strata::model::Clock(m_traces[1].trace), strata::model::Clock(m_traces[2].trace) };
    bool m_secondIsThere = false;
    ViewState m_state;
};

TEST_F(SelectionOverDevices, AnotherDeviceKeepsTheInstantByItsTime)
{
    comes();
    m_state.select(EventRange{ 1, 1 });
    m_state.setDevice(1);
    EXPECT_EQ(m_state.selection(), (EventRange{ 1, 1 }));
    EXPECT_EQ(m_state.madeSelection()->device, 0);
    EXPECT_EQ(m_state.madeSelection()->time, (strata::model::TimeRange{ 200, 200 }));
    m_state.setDevice(0);
    EXPECT_EQ(m_state.selection(), (EventRange{ 1, 1 })) << "not 2, which has the same time";
    m_state.select(EventRange{ 1, 3 });
    m_state.setDevice(1);
    EXPECT_EQ(m_state.selection(), (EventRange{ 1, 2 }));
    m_state.select(EventRange{ 0, 0 }); // made here now
    m_state.setDevice(0);
    EXPECT_EQ(m_state.selection(), (EventRange{ 0, 0 }));
}

TEST_F(SelectionOverDevices, UndoWorksAcrossThem)
{
    comes();
    m_state.select(EventRange{ 2, 2 });
    m_state.setDevice(1);
    m_state.select(EventRange{ 2, 2 });
    m_state.undo();
    EXPECT_EQ(m_state.device(), 1);
    EXPECT_EQ(m_state.selection(), (EventRange{ 1, 1 })) << "what followed from the other device";
    m_state.undo();
    EXPECT_EQ(m_state.device(), 0);
    EXPECT_EQ(m_state.selection(), (EventRange{ 2, 2 }));
    m_state.redo();
    EXPECT_EQ(m_state.selection(), (EventRange{ 1, 1 }));
    m_state.redo();
    EXPECT_EQ(m_state.selection(), (EventRange{ 2, 2 }));
    m_state.select(0, EventRange{ 3, 3 }); // device and events are one entry
    EXPECT_EQ(m_state.device(), 0);
    m_state.undo();
    EXPECT_EQ(m_state.device(), 1);
    EXPECT_EQ(m_state.selection(), (EventRange{ 2, 2 }));
}

TEST_F(SelectionOverDevices, ADeviceThatIsNotThereYetFollowsOnceItIs)
{
    m_state.select(EventRange{ 1, 1 });
    m_state.setDevice(1);
    EXPECT_FALSE(m_state.selection());
    EXPECT_FALSE(m_state.lacksClock()) << "that is not known yet";
    const QSignalSpy told(&m_state, &ViewState::selectionChanged);
    comes();
    EXPECT_EQ(told.count(), 1);
    EXPECT_EQ(m_state.selection(), (EventRange{ 1, 1 }));
    m_state.clocksChanged();
    EXPECT_EQ(told.count(), 1);
    m_state.undo();
    EXPECT_EQ(m_state.device(), 0) << "its coming was no step of its own";
}

TEST_F(SelectionOverDevices, WithoutTimesThereIsNoClock)
{
    m_state.select(EventRange{ 1, 1 });
    m_state.setDevice(2);
    EXPECT_FALSE(m_state.selection());
    EXPECT_TRUE(m_state.lacksClock());
    m_state.select(EventRange{ 0, 1 }); // events alone
    EXPECT_FALSE(m_state.lacksClock());
    EXPECT_EQ(m_state.selection(), (EventRange{ 0, 1 }));
    EXPECT_FALSE(m_state.madeSelection()->time);
    m_state.setDevice(0);
    EXPECT_FALSE(m_state.selection());
    EXPECT_TRUE(m_state.lacksClock());
    m_state.select(std::nullopt); // dropped for good
    m_state.setDevice(2);
    EXPECT_FALSE(m_state.selection());
    EXPECT_FALSE(m_state.lacksClock());
}

} // namespace
