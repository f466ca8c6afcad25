// SPDX-License-Identifier: GPL-3.0-or-later
// A document whose source tells of a session generation by generation.
#include "views/models/document/document.h"

#include "tests/gui/eventually.h"
#include "tests/support/device_data.h"
#include "tests/support/grow.h"
#include "tests/support/random_recording.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <gtest/gtest.h>
#include <utility>

using namespace strata;
using strata::test::eventually;
using strata::views::Document;

namespace {

std::unique_ptr<model::Recording> recording(int devices = 1)
{
    return test::withBase(test::randomRecording(
        { .seed = 5, .devices = devices, .events = 8000, .liveBlocks = 300, .streams = 2 }));
}

class GrowingDocument : public testing::Test {
protected:
    void show(std::int64_t events)
    {
        for (std::size_t device = 0; device < m_whole->devices.size(); ++device)
            m_feeder.addEvents(device, events);
        m_document.show(m_feeder.append());
    }
    bool shown()
    {
        return eventually([&] {
            return m_document.device() && m_document.device()->blocksIndex && !m_document.isBehind();
        });
    }

    std::unique_ptr<model::Recording> m_whole = recording();
    test::Feeder m_feeder{ *m_whole };
    Document m_document;
};

TEST_F(GrowingDocument, ShowsWhatItsSourceTells)
{
    m_document.follow();
    EXPECT_EQ(m_document.state(), Document::State::Loading);
    EXPECT_TRUE(m_document.isFollowing());
    m_feeder.addBase(0);
    show(1000);
    EXPECT_EQ(m_document.state(), Document::State::Ready);
    ASSERT_TRUE(shown());
    const auto first = m_document.device();
    EXPECT_EQ(first->trace->eventCount(), 1000);
    const QObject here;
    int newer = 0;
    const auto* last = first->trace;
    QObject::connect(&m_document, &Document::deviceReady, &here, [&] {
        const auto now = m_document.device();
        if (std::exchange(last, now->trace) == now->trace)
            return;
        ++newer;
        EXPECT_TRUE(now->blocksIndex) << "all of it at once";
    });
    show(500);
    EXPECT_TRUE(m_document.isBehind());
    EXPECT_EQ(m_document.device(), first) << "until the new one is derived";
    EXPECT_EQ(m_document.session(), first->session);
    ASSERT_TRUE(shown());
    const auto second = m_document.device();
    EXPECT_EQ(newer, 1);
    EXPECT_EQ(second->trace->eventCount(), 1500);
    EXPECT_EQ(m_document.session(), second->session);
    EXPECT_TRUE(second->follows(*first));
    EXPECT_TRUE(second->byLine->sharesGroups(*first->byLine)) << "it went on";
    // No new address: the same layout, not a copy of it.
    EXPECT_EQ(second->strips == first->strips, second->strips->height() == first->strips->height());
    EXPECT_EQ(first->trace->eventCount(), 1000) << "nobody disturbs who looks at the old one";
    m_document.endFollowing();
    EXPECT_FALSE(m_document.isFollowing());
    EXPECT_EQ(m_document.state(), Document::State::Ready);
}

TEST_F(GrowingDocument, DerivesOnlyTheNewestOfThoseThatWait)
{
    m_document.follow();
    m_feeder.addBase(0);
    show(100);
    ASSERT_TRUE(shown());
    const QSignalSpy grown(&m_document, &Document::grown);
    for (int i = 0; i < 50; ++i)
        show(20);
    ASSERT_TRUE(shown());
    EXPECT_EQ(m_document.device()->trace->eventCount(), 1100);
    EXPECT_LE(grown.count(), 2) << "the first one, and the last";
}

TEST_F(GrowingDocument, ShowsThirtyGenerationsASecondAndFewMore)
{
    m_document.follow();
    m_feeder.addBase(0);
    show(100);
    ASSERT_TRUE(shown());
    const QSignalSpy grown(&m_document, &Document::grown);
    QElapsedTimer clock;
    clock.start();
    while (clock.elapsed() < 1000) {
        show(1);
        QTest::qWait(5);
    }
    EXPECT_LE(grown.count(), 36 * clock.elapsed() / 1000 + 1);
    EXPECT_GE(grown.count(), 1);
    ASSERT_TRUE(shown());
    EXPECT_EQ(m_document.session(), m_feeder.session().latest());
}

TEST_F(GrowingDocument, TakesADeviceThatComesLater)
{
    m_document.follow();
    m_document.show(test::Feeder(model::Recording()).append());
    EXPECT_EQ(m_document.state(), Document::State::Ready);
    EXPECT_FALSE(m_document.device());
    const QSignalSpy devices(&m_document.viewState(), &views::ViewState::deviceChanged);
    m_feeder.addBase(0);
    show(300);
    ASSERT_TRUE(shown());
    EXPECT_EQ(m_document.device()->trace->eventCount(), 300);
    EXPECT_EQ(devices.count(), 1);
}

TEST_F(GrowingDocument, BringsADeviceThatWasNotLookedAtUpToDate)
{
    m_whole = recording(2);
    test::Feeder feeder(*m_whole);
    const auto tell = [&](std::int64_t events) {
        for (const std::size_t device : { 0u, 1u })
            feeder.addEvents(device, events);
        m_document.show(feeder.append());
    };
    feeder.addBase(0);
    feeder.addBase(1);
    m_document.follow();
    tell(200);
    ASSERT_TRUE(shown());
    const int one = m_document.viewState().device(), other = 1 - one;
    m_document.viewState().setDevice(other);
    ASSERT_TRUE(shown());
    m_document.viewState().setDevice(one);
    tell(300);
    ASSERT_TRUE(shown());
    EXPECT_EQ(m_document.device()->trace->eventCount(), 500);
    m_document.viewState().setDevice(other);
    ASSERT_TRUE(m_document.device()) << "what is known of it is there at once";
    EXPECT_EQ(m_document.device()->trace->eventCount(), 200);
    ASSERT_TRUE(shown());
    EXPECT_EQ(m_document.device()->trace->eventCount(), 500);
}

TEST_F(GrowingDocument, KeepsSelectionFilterUndoAndColours)
{
    m_document.follow();
    m_feeder.addBase(0);
    show(3000);
    ASSERT_TRUE(shown());
    views::ViewState& state = m_document.viewState();
    state.select(views::EventRange{ 5, 9 });
    model::BlockFilter filter;
    filter.minBytes = 1000;
    state.setFilter(filter);
    const auto before = test::colouredNames(*m_document.device());
    for (int i = 0; i < 5; ++i) {
        show(600);
        ASSERT_TRUE(shown());
    }
    EXPECT_EQ(state.selection(), (views::EventRange{ 5, 9 }));
    EXPECT_EQ(state.filter(), filter);
    state.undo();
    state.undo();
    EXPECT_FALSE(state.selection());
    EXPECT_FALSE(state.canUndo());
    int kept = 0;
    for (const auto& [name, colour] : test::colouredNames(*m_document.device()))
        if (const auto had = before.find(name); had != before.end()) {
            EXPECT_EQ(colour, had->second) << name;
            ++kept;
        }
    EXPECT_GT(kept, 0);
}

TEST_F(GrowingDocument, TakesOverNotesThatComeWithIt)
{
    m_document.follow();
    m_feeder.addBase(0);
    show(100);
    ASSERT_TRUE(shown());
    views::ViewState& state = m_document.viewState();
    model::UserData mine;
    mine.set({ .key = 1, .changedNs = 5, .first = 3, .last = 3, .text = "mine" });
    state.setUser(mine);
    model::UserData& told = m_feeder.session().recording().user;
    told.set({ .key = 2, .changedNs = 6, .first = 4, .last = 4, .text = "theirs" });
    show(100);
    ASSERT_TRUE(shown());
    ASSERT_EQ(state.user().items.size(), 2u);
    EXPECT_EQ(state.user().find(2)->text, "theirs");
    state.undo();
    ASSERT_EQ(state.user().items.size(), 1u) << "mine is undone, theirs is not";
    EXPECT_EQ(state.user().items[0].text, "theirs");
    state.redo();
    EXPECT_EQ(state.user().items.size(), 2u);
    told.remove(2, 9);
    show(100);
    ASSERT_TRUE(shown());
    ASSERT_EQ(state.user().items.size(), 1u);
    EXPECT_EQ(state.user().items[0].text, "mine");
}

TEST_F(GrowingDocument, MayGoAwayOrShowAnotherWhileItGrows)
{
    for (int i = 0; i < 6; ++i) {
        auto document = std::make_unique<Document>();
        test::Feeder feeder(*m_whole);
        feeder.addBase(0);
        document->follow();
        feeder.addEvents(0, 1000);
        document->show(feeder.append());
        ASSERT_TRUE(eventually([&] { return document->device() && document->device()->blocksIndex; }));
        for (int j = 0; j < 3; ++j) {
            feeder.addEvents(0, 1000);
            document->show(feeder.append());
            QTest::qWait(i * 20);
        }
        if (i % 2 == 0)
            document.reset();
        else
            document->follow();
        if (document) {
            EXPECT_FALSE(document->device());
            EXPECT_EQ(document->state(), Document::State::Loading);
        }
    }
}

} // namespace
