// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "tests/gui/allocator/replayed.h"
#include "tests/gui/timeline/made_trace.h"
#include "views/widgets/timeline/lane_words.h"

#include <QAction>
#include <QContextMenuEvent>
#include <QMenu>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace strata;
using namespace strata::views;

namespace {

/// A trace with a stream and five threads of which each does something, the first launches.
std::string sixLanes()
{
    std::string rows
        = test::row("kernel", "gemm_kernel", 0, 7, 20, 60, R"("correlation":1,"device":0,"stream":7)");
    rows += "," + test::row("cuda_runtime", "cudaLaunchKernel", 1, 1, 10, 5, R"("correlation":1)");
    for (int thread = 1; thread <= 5; ++thread)
        for (int depth = 0; depth < 4; ++depth)
            for (const int half : { 0, 50 })
                rows += ","
                    + test::row(
                        "cpu_op", "thread" + std::to_string(thread), 1, thread, half + depth, 50 - 2 * depth);
    return R"({"traceEvents":[)" + rows + "]}";
}

class LaneOrder : public testing::Test, protected test::WindowFont {
protected:
    LaneOrder() { qputenv("XDG_DATA_HOME", m_folder.path().toLocal8Bit()); }
    void SetUp() override
    {
        ASSERT_TRUE(test::write(m_path, sixLanes()));
        show();
    }
    void show()
    {
        m_page.reset();
        m_document = std::make_unique<Document>();
        m_page = std::make_unique<TimelinePage>(*m_document);
        m_page->setPalette(Palette::light());
        m_page->resize(1000, 640);
        m_page->QWidget::show();
        ASSERT_TRUE(QTest::qWaitForWindowExposed(m_page.get()));
        m_document->open(m_path);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                return m_document->state() == Document::State::Ready && lanes().data() && !m_page->busy();
            },
            20'000))
            << m_document->error().text();
        lanes().setFocus();
    }
    [[nodiscard]] LanesView& lanes() const { return m_page->lanes(); }
    /// Threads by number, the stream as 0, in the order in which they are shown.
    [[nodiscard]] std::string shown() const
    {
        std::string text;
        for (const LaneLayout::Track& track : lanes().lanes().tracks())
            text += std::to_string(numberOf(track.track));
        return text;
    }
    [[nodiscard]] std::int64_t numberOf(std::size_t track) const
    {
        const LanesData& data = *lanes().data();
        const model::WorkLane& lane = data.work().lanes[data.tracks().tracks()[track].lane];
        return lane.device ? 0 : lane.thread;
    }
    [[nodiscard]] std::size_t trackOf(std::int64_t number) const
    {
        for (const LaneLayout::Track& track : lanes().lanes().tracks())
            if (numberOf(track.track) == number)
                return track.track;
        ADD_FAILURE() << number;
        return 0;
    }
    [[nodiscard]] std::uint32_t pieceOf(std::int64_t number) const
    {
        return lanes().data()->tracks().tracks()[trackOf(number)].rows.front().spans.front();
    }
    [[nodiscard]] QPoint nameOf(std::int64_t number) const
    {
        return { 40, lanes().placeOf(pieceOf(number)).y() };
    }
    void drag(const QPoint& from, const QPoint& to)
    {
        QTest::mousePress(lanes().viewport(), Qt::LeftButton, {}, from);
        QTest::mouseMove(lanes().viewport(), (from + to) / 2);
        QTest::mouseMove(lanes().viewport(), to);
        QTest::mouseRelease(lanes().viewport(), Qt::LeftButton, {}, to);
    }
    /// Of the menu of a lane; nullptr: it has none.
    [[nodiscard]] QAction* offered(std::int64_t number, const QString& text)
    {
        QContextMenuEvent event(QContextMenuEvent::Mouse, nameOf(number), QCursor::pos());
        QCoreApplication::sendEvent(lanes().viewport(), &event);
        auto* menu = lanes().findChildren<QMenu*>().value(lanes().findChildren<QMenu*>().size() - 1);
        for (QAction* action : menu ? menu->actions() : QList<QAction*>())
            if (action->text() == text)
                return action;
        return nullptr;
    }
    void take(std::int64_t number, const QString& text)
    {
        QAction* action = offered(number, text);
        ASSERT_TRUE(action && action->isEnabled()) << qPrintable(text);
        action->trigger();
    }

    QTemporaryDir m_folder;
    const QString m_path = m_folder.filePath(QStringLiteral("trace.json"));
    std::unique_ptr<Document> m_document;
    std::unique_ptr<TimelinePage> m_page;
};

TEST_F(LaneOrder, DraggingANameMovesItsLaneAndAClickFoldsIt)
{
    ASSERT_EQ(shown(), "012345");
    drag(nameOf(1), nameOf(0) - QPoint(0, 12));
    EXPECT_EQ(shown(), "102345");
    EXPECT_FALSE(lanes().isFolded(trackOf(1))) << "a drag is no click";
    drag(nameOf(0), nameOf(5) + QPoint(0, 40));
    EXPECT_EQ(shown(), "123450");
    EXPECT_EQ(m_document->viewState().trackOrder(), lanes().order());
    QTest::mouseClick(lanes().viewport(), Qt::LeftButton, {}, nameOf(1));
    EXPECT_TRUE(lanes().isFolded(trackOf(1)));
    EXPECT_EQ(shown(), "123450");
    m_document->viewState().undo();
    EXPECT_EQ(shown(), "102345") << "a move is one step of Undo";
}

TEST_F(LaneOrder, KeysMoveAndPinTheLaneOfWhatIsChosen)
{
    lanes().setCurrent(pieceOf(3));
    QTest::keyClick(&lanes(), Qt::Key_Up, Qt::ControlModifier);
    EXPECT_EQ(shown(), "013245");
    QTest::keyClick(&lanes(), Qt::Key_Down, Qt::ControlModifier);
    QTest::keyClick(&lanes(), Qt::Key_Down, Qt::ControlModifier);
    EXPECT_EQ(shown(), "012435");
    QTest::keyClick(&lanes(), Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(shown(), "301245");
    EXPECT_TRUE(lanes().isPinned(trackOf(3)));
    QTest::keyClick(&lanes(), Qt::Key_Down, Qt::ControlModifier);
    EXPECT_EQ(shown(), "301245") << "it is the only one that is pinned";
    QTest::keyClick(&lanes(), Qt::Key_Up, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_FALSE(lanes().isPinned(trackOf(3)));
    lanes().setCurrent(std::nullopt);
    QTest::keyClick(&lanes(), Qt::Key_Down, Qt::ControlModifier);
    EXPECT_EQ(shown(), "301245") << "no lane is meant";
    QTest::keyClick(&lanes(), Qt::Key_O, Qt::ControlModifier | Qt::ShiftModifier);
    EXPECT_EQ(shown(), "012345");
}

TEST_F(LaneOrder, TheMenuOffersWhatCanBeDone)
{
    EXPECT_FALSE(offered(0, QStringLiteral("Move Up"))->isEnabled());
    EXPECT_FALSE(offered(5, QStringLiteral("Move Down"))->isEnabled());
    EXPECT_FALSE(offered(5, QStringLiteral("Reset Order"))->isEnabled());
    take(5, QStringLiteral("Move Up"));
    EXPECT_EQ(shown(), "012354");
    take(2, QStringLiteral("Pin to Top"));
    EXPECT_EQ(shown(), "201354");
    take(1, QStringLiteral("Fold"));
    EXPECT_TRUE(lanes().isFolded(trackOf(1)));
    take(2, QStringLiteral("Unfold"));
    EXPECT_FALSE(lanes().isFolded(trackOf(2)));
    take(2, QStringLiteral("Unpin"));
    EXPECT_EQ(shown(), "201354");
    EXPECT_FALSE(lanes().isPinned(trackOf(2)));
    take(0, QStringLiteral("Reset Order"));
    EXPECT_EQ(shown(), "012345");
    EXPECT_TRUE(m_document->viewState().user().items.empty());
}

TEST_F(LaneOrder, APinnedLaneStaysInViewAndCanBePointedAt)
{
    for (int thread = 2; thread <= 5; ++thread)
        lanes().setFolded(trackOf(thread), false);
    m_page->resize(1000, 420); // so that they have to scroll
    lanes().setPinned(trackOf(4), true);
    const QPoint at = lanes().placeOf(pieceOf(4));
    ASSERT_GT(lanes().verticalScrollBar()->maximum(), 0);
    lanes().verticalScrollBar()->setValue(lanes().verticalScrollBar()->maximum());
    EXPECT_EQ(lanes().placeOf(pieceOf(4)), at);
    EXPECT_EQ(lanes().pieceAt(at), pieceOf(4));
    const QPoint last = lanes().placeOf(pieceOf(5));
    EXPECT_EQ(lanes().pieceAt(last), pieceOf(5)) << "others scroll below it";
    EXPECT_LT(lanes().placeOf(pieceOf(0)).y(), at.y() + 4 * lanes().lanes().rowHeight());
    lanes().reveal(pieceOf(0));
    EXPECT_EQ(lanes().pieceAt(lanes().placeOf(pieceOf(0))), pieceOf(0)) << "not behind what is pinned";
}

TEST_F(LaneOrder, TheOrderIsThereWhenTheFileIsOpenedAgain)
{
    lanes().moveTrack(trackOf(5), -4);
    lanes().setPinned(trackOf(3), true);
    ASSERT_EQ(shown(), "305124");
    QSignalSpy kept(m_document.get(), &Document::userKept);
    ASSERT_TRUE(kept.count() > 0 || kept.wait(10'000));
    (void)QTest::qWaitFor([&] { return kept.count() >= 2; }, 2'000);
    show();
    EXPECT_EQ(shown(), "305124");
    EXPECT_TRUE(lanes().isPinned(trackOf(3)));
}

} // namespace
