// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/blocks_page.h"
#include "views/pages/tables/events_page.h"

#include "tests/gui/tables/device_data.h"
#include "tests/gui/tables/open_document.h"
#include "views/models/tables/blocks_table.h"
#include "views/widgets/table_filter_bar.h"
#include "views/widgets/table_footer.h"
#include "views/widgets/table_header.h"
#include "views/widgets/table_view.h"

#include <QAction>
#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace strata;
using namespace strata::views;

namespace {

template <class P> class PageTest : public testing::Test {
protected:
    PageTest()
        : m_page(m_document)
    {
        m_page.resize(1000, 500);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    void open(const char* name = "torch2.11_plain.pickle.gz")
    {
        test::openDocument(m_document, m_page, name);
    }
    void settle() { ASSERT_TRUE(test::settled(m_document, m_page)); }
    ViewState& state() { return m_document.viewState(); }
    const model::DeviceTrace& trace() { return *m_document.device()->trace; }
    std::int64_t requestedBytes(std::uint32_t row)
    {
        return trace().blocks().requestedBytes[trace().blocks().at(row)];
    }
    int rows() const { return m_page.model().rowCount(); }
    void filter(const char* text)
    {
        m_page.filterBar().setText(QString::fromUtf8(text));
        settle();
    }

    Document m_document;
    P m_page;
};

using BlocksPageTest = PageTest<BlocksPage>;
using EventsPageTest = PageTest<EventsPage>;

TEST_F(BlocksPageTest, SaysThatNothingIsOpen)
{
    EXPECT_FALSE(m_page.notice().text().title.isEmpty());
    EXPECT_TRUE(m_page.notice().isVisible());
    EXPECT_TRUE(m_page.copyText().isEmpty());
    EXPECT_FALSE(m_page.hasCsv());
    m_page.resetView();
    m_page.goTo(3);
}

TEST_F(BlocksPageTest, ShowsEveryBlockAndWhatLivesAtThePeak)
{
    open();
    EXPECT_EQ(rows(), static_cast<int>(trace().blocks().size()));
    EXPECT_TRUE(QTest::qWaitFor([&] { return m_page.sentenceText().contains(QStringLiteral("live at")); }));
    const auto peak = m_document.device()->timeline->live().liveAt(trace().totals().requestedPeakEvent);
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("<b>%1</b> live").arg(peak.size())))
        << qPrintable(m_page.sentenceText());
}

TEST_F(BlocksPageTest, FollowsTheSelectionUnlessTheWholeTraceIsWanted)
{
    open();
    const model::EventIndex middle = trace().eventCount() / 2;
    state().select(EventRange{ middle, middle });
    settle();
    EXPECT_EQ(rows(), static_cast<int>(m_document.device()->timeline->live().liveAt(middle).size()));
    EXPECT_EQ(m_page.model().rows()->sums().first, m_document.device()->timeline->requested().at(middle));
    m_page.filterBar().toggleSelection();
    settle();
    EXPECT_EQ(rows(), static_cast<int>(trace().blocks().size()));
    m_page.filterBar().toggleSelection();
    state().select(std::nullopt);
    settle();
    EXPECT_EQ(rows(), static_cast<int>(trace().blocks().size()));
}

TEST_F(BlocksPageTest, FiltersByTheBoxAndByTheDocument)
{
    open();
    const int all = rows();
    filter("> 1 MiB");
    const int large = rows();
    EXPECT_GT(large, 0);
    EXPECT_LT(large, all);
    model::BlockFilter shared;
    shared.maxBytes = 4 << 20;
    state().setFilter(shared);
    settle();
    EXPECT_LT(rows(), large);
    for (int row = 0; row < rows(); ++row) {
        const std::int64_t bytes = requestedBytes(m_page.model().sourceRow(row));
        EXPECT_TRUE(bytes > (1 << 20) && bytes <= (4 << 20));
    }
    state().undo();
    settle();
    EXPECT_EQ(rows(), large);
    filter("> nonsense"); // what is shown stays until the box makes sense again
    EXPECT_EQ(rows(), large);
}

TEST_F(BlocksPageTest, MakesItsFilterOneOfEveryPage)
{
    open();
    filter("> 1 MiB");
    const int large = rows();
    Q_EMIT m_page.filterBar().everywhereRequested();
    settle();
    EXPECT_EQ(state().filter().minBytes, (1 << 20) + 1);
    EXPECT_TRUE(m_page.filterBar().text().isEmpty());
    EXPECT_EQ(rows(), large);
}

TEST_F(BlocksPageTest, OffersToClearAFilterThatNothingMatches)
{
    open();
    filter("no_such_function");
    EXPECT_EQ(rows(), 0);
    EXPECT_TRUE(m_page.notice().isVisible());
    ASSERT_TRUE(m_page.notice().button()->isVisible());
    m_page.notice().button()->click();
    settle();
    EXPECT_EQ(rows(), static_cast<int>(trace().blocks().size()));
    EXPECT_FALSE(m_page.notice().isVisible());
}

TEST_F(BlocksPageTest, SortsAndKeepsTheCurrentRow)
{
    open();
    m_page.table().setCurrentRow(3, QAbstractItemView::EnsureVisible);
    Q_EMIT m_page.table().sortRequested(BlocksTable::placeOf(BlocksTable::Requested), true);
    settle();
    const auto bytes = [&](int row) { return requestedBytes(m_page.model().sourceRow(row)); };
    for (int row = 1; row < rows(); ++row)
        EXPECT_GE(bytes(row - 1), bytes(row));
    ASSERT_TRUE(m_page.table().currentIndex().isValid());
    EXPECT_EQ(m_page.model().sourceRow(m_page.table().currentIndex().row()), 3u);
}

TEST_F(BlocksPageTest, ARowIsForTheDetailsAndEnterGoesToItsBirth)
{
    open();
    QSignalSpy focus(&m_page, &Page::focusChanged);
    m_page.table().setFocus();
    m_page.table().setCurrentRow(5, QAbstractItemView::EnsureVisible);
    EXPECT_EQ(focus.size(), 0);
    QTest::keyClick(&m_page.table(), Qt::Key_Down);
    ASSERT_EQ(focus.size(), 1);
    const auto shown = focus[0][0].value<Focus>();
    EXPECT_EQ(shown.kind, Focus::Kind::Block);
    EXPECT_EQ(shown.block, model::BlockId{ 6 });
    EXPECT_FALSE(state().selection());
    QTest::keyClick(&m_page.table(), Qt::Key_Return);
    const model::EventIndex born = trace().blocks().birth(model::BlockId{ 6 });
    EXPECT_EQ(state().selection(), (EventRange{ born, born }));
}

TEST_F(BlocksPageTest, CopiesRowsAndSavesCsvInTheBackground)
{
    open();
    m_page.table().setCurrentRow(0, QAbstractItemView::EnsureVisible);
    const QString text = m_page.copyText();
    EXPECT_EQ(text.count(QLatin1Char('\t')), m_page.model().columnCount() - 1) << "every column, once";
    EXPECT_EQ(text.count(QLatin1Char('\n')), 1);

    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("blocks.csv"));
    ASSERT_TRUE(m_page.saveCsvLater(path));
    ASSERT_TRUE(QTest::qWaitFor([&] { return QFile::exists(path); }));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_EQ(file.readAll().count('\n'), rows() + 1);
}

TEST_F(BlocksPageTest, FollowsTheAxis)
{
    open();
    state().setAxis(model::Axis::Time);
    settle();
    EXPECT_EQ(m_page.model()
                  .headerData(BlocksTable::placeOf(BlocksTable::Born), Qt::Horizontal, Qt::DisplayRole)
                  .toString(),
        QStringLiteral("Born (s)"));
}

TEST_F(EventsPageTest, StepsThroughTimeByKeys)
{
    open();
    EXPECT_EQ(rows(), static_cast<int>(trace().eventCount()));
    m_page.table().setFocus();
    EXPECT_FALSE(state().selection()) << "taking the focus selects nothing";
    state().select(EventRange{ 10, 10 });
    settle();
    EXPECT_EQ(m_page.table().currentIndex().row(), 10);
    QTest::keyClick(&m_page.table(), Qt::Key_J);
    EXPECT_EQ(state().selection(), (EventRange{ 11, 11 }));
    QTest::keyClick(&m_page.table(), Qt::Key_K);
    QTest::keyClick(&m_page.table(), Qt::Key_Up);
    EXPECT_EQ(state().selection(), (EventRange{ 9, 9 }));
    EXPECT_EQ(rows(), static_cast<int>(trace().eventCount())) << "an instant does not restrict the events";
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("event 9")));
}

TEST_F(EventsPageTest, ARangeRestrictsTheTableAndStaysWhileRowsAreLookedAt)
{
    open();
    state().select(EventRange{ 5, 24 });
    settle();
    EXPECT_EQ(rows(), 20);
    m_page.table().setFocus();
    m_page.table().setCurrentRow(2, QAbstractItemView::EnsureVisible);
    QSignalSpy focus(&m_page, &Page::focusChanged);
    QTest::keyClick(&m_page.table(), Qt::Key_Down);
    EXPECT_EQ(focus.size(), 1);
    EXPECT_EQ(state().selection(), (EventRange{ 5, 24 }));
    QTest::keyClick(&m_page.table(), Qt::Key_Return);
    EXPECT_EQ(state().selection(), (EventRange{ 8, 8 }));
}

TEST_F(EventsPageTest, ScrollsToAnEventWhereverItIs)
{
    open();
    const int last = static_cast<int>(trace().eventCount()) - 1;
    m_page.goTo(last);
    EXPECT_EQ(m_page.table().currentIndex().row(), last);
    const QRect rect = m_page.table().visualRect(m_page.table().currentIndex());
    EXPECT_TRUE(m_page.table().viewport()->rect().contains(rect.center()));
}

TEST_F(EventsPageTest, FindsTheOutOfMemory)
{
    open("torch2.11_oom.pickle.gz");
    filter("oom");
    ASSERT_GE(rows(), 1);
    EXPECT_EQ(trace().events().action[m_page.model().sourceRow(0)], model::Action::Oom);
}

TEST_F(EventsPageTest, SaysHowToRecordEvents)
{
    m_page.showDevice(test::deviceData("segment 0x1000 2097152 small\nblock 0x1000 512 allocated"));
    EXPECT_TRUE(m_page.notice().isVisible());
    EXPECT_TRUE(m_page.notice().text().code.contains(QStringLiteral("_record_memory_history")));
}

TEST_F(EventsPageTest, HasAShortcutForEveryAction)
{
    for (const QAction* action : m_page.pageActions())
        EXPECT_FALSE(action->shortcut().isEmpty()) << qPrintable(action->text());
}

} // namespace
