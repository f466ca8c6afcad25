// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_page.h"

#include "tests/gui/tables/device_data.h"
#include "tests/gui/tables/open_document.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame/flame_graph.h"

#include <QAction>
#include <QBuffer>
#include <QClipboard>
#include <QFile>
#include <QGuiApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>

using namespace strata;
using namespace strata::views;

namespace {

class FlamePageTest : public testing::Test {
protected:
    FlamePageTest()
        : m_page(m_document)
    {
        m_page.graph().setAnimated(false);
        m_page.resize(1000, 600);
        m_page.QWidget::show();
        EXPECT_TRUE(QTest::qWaitForWindowExposed(&m_page));
    }
    void open(const char* name = "torch2.11_plain.pickle.gz")
    {
        test::openDocument(m_document, m_page, name);
    }
    void settle() { ASSERT_TRUE(test::settled(m_document, m_page)); }
    const FlameTree& tree() const { return *m_page.graph().tree(); }
    const model::DeviceTimeline& timeline() { return *m_document.device()->timeline; }

    Document m_document;
    FlamePage m_page;
};

TEST_F(FlamePageTest, ShowsThePeakUntilSomethingIsSelected)
{
    open();
    EXPECT_EQ(tree().total(0), timeline().trace().totals().requestedBytesPeak);
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("at the peak")));
    m_document.viewState().select(EventRange{ 20, 20 });
    settle();
    EXPECT_EQ(tree().total(0), timeline().requested().at(20));
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("at event 20")));
}

TEST_F(FlamePageTest, ShowsTheOutOfMemoryWhereThereIsOne)
{
    open("../samples/gpt2_124m_bf16_oom_16gib.pickle.gz");
    const model::EventIndex failed = m_document.device()->summary->outOfMemory.back().event;
    ASSERT_NE(failed, timeline().trace().totals().requestedPeakEvent);
    EXPECT_EQ(tree().total(0), timeline().requested().at(failed));
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("at the out-of-memory, event")));
    EXPECT_TRUE(m_page.commandLine().contains(QString::number(failed)));
    m_page.setCost(model::TreeCost::Count); // allocations of the whole trace
    settle();
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("in the whole trace")));
}

TEST_F(FlamePageTest, RowsOfOneFunctionDifferWhereThereIsLittleRoom)
{
    const QFontMetrics metrics(m_page.font());
    const QString function = QStringLiteral("GroupedQueryAttention.forward");
    for (int width = 80; width < 500; width += 20) {
        const FrameRow one = cutToFit(function, QStringLiteral("modeling_llama.py:57"), width, metrics);
        const FrameRow other = cutToFit(function, QStringLiteral("modeling_llama.py:112"), width, metrics);
        EXPECT_LE(metrics.horizontalAdvance(one.function) + metrics.horizontalAdvance(one.place), width);
        EXPECT_EQ(one.place == other.place, one.place.isEmpty()) << width;
        EXPECT_TRUE(one.place.isEmpty() || one.place.endsWith(QStringLiteral(":57")))
            << qPrintable(one.place);
        EXPECT_TRUE(width < 120 || !one.place.isEmpty()) << width;
    }
    EXPECT_EQ(cutToFit(function, {}, 1000, metrics).function, function);
}

TEST_F(FlamePageTest, MeasuresWhatIsAskedFor)
{
    open();
    m_page.setCost(model::TreeCost::Count);
    settle();
    EXPECT_EQ(tree().total(0), timeline().trace().totals().actions.at("alloc"));
    m_page.setCost(model::TreeCost::Leaked);
    settle();
    std::int64_t leaked = 0;
    const model::BlockColumns& blocks = timeline().trace().blocks();
    for (const model::BlockId block : blocks.all()) {
        if (blocks.birth(block) >= 0 && !blocks.freeCompleted[block].valid())
            leaked += blocks.requestedBytes[block];
    }
    EXPECT_EQ(tree().total(0), leaked);
    EXPECT_TRUE(m_page.sentenceText().contains(QStringLiteral("</b> is alive at the end")))
        << qPrintable(m_page.sentenceText());
    m_page.setByLine(true);
    settle();
    EXPECT_EQ(tree().total(0), leaked);
    EXPECT_EQ(tree().maxDepth(), 1);
}

TEST_F(FlamePageTest, GraphAndTreeMarkTheSameFrame)
{
    open();
    const FlameTree::Node first = tree().children(0).front();
    QSignalSpy focus(&m_page, &Page::focusChanged);
    m_page.graph().setFocus();
    QTest::keyClick(&m_page.graph(), Qt::Key_Down);
    EXPECT_EQ(m_page.treeView().currentNode(), first);
    m_page.treeView().setFocus();
    QTest::keyClick(&m_page.treeView(), Qt::Key_Down);
    EXPECT_EQ(m_page.graph().current(), m_page.treeView().currentNode());
    EXPECT_NE(m_page.graph().current(), first);
    QTest::keyClick(&m_page.treeView(), Qt::Key_Return);
    EXPECT_EQ(m_page.graph().zoomed(), m_page.graph().current());
    EXPECT_TRUE(m_page.canGoBack());
    m_page.goBack();
    EXPECT_EQ(m_page.graph().zoomed(), 0u);
}

TEST_F(FlamePageTest, FindsFramesAndSaysTheirShare)
{
    open();
    const QString name = tree().function(tree().children(0).front());
    m_page.search(name);
    EXPECT_TRUE(QTest::qWaitFor([&] { return m_page.searchResult().contains(QLatin1Char('%')); }));
    m_page.search(QStringLiteral("no such frame"));
    EXPECT_TRUE(QTest::qWaitFor([&] { return m_page.searchResult() == QStringLiteral("not found"); }));
    m_page.resetView();
    EXPECT_TRUE(m_page.searchResult().isEmpty());
}

TEST_F(FlamePageTest, FollowsTheFilterAndClearsIt)
{
    open();
    const std::int64_t all = tree().total(0);
    model::BlockFilter filter;
    filter.minBytes = 1 << 20;
    m_document.viewState().setFilter(filter);
    settle();
    EXPECT_LT(tree().total(0), all);
    filter.minBytes = std::int64_t{ 1 } << 50;
    m_document.viewState().setFilter(filter);
    settle();
    EXPECT_TRUE(m_page.notice().isVisible());
    m_page.notice().button()->click();
    settle();
    EXPECT_FALSE(m_page.notice().isVisible());
    EXPECT_EQ(tree().total(0), all);
}

TEST_F(FlamePageTest, SavesPictureTableAndStacks)
{
    open();
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("flame.svg"));
    ASSERT_TRUE(m_page.saveSvg(path));
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QByteArray svg = file.readAll();
    EXPECT_TRUE(svg.contains("<svg"));
    EXPECT_TRUE(svg.contains(">all</text>"));
    EXPECT_FALSE(m_page.saveSvg(folder.filePath(QStringLiteral("missing/flame.svg"))));

    QBuffer csv;
    ASSERT_TRUE(csv.open(QIODevice::WriteOnly));
    ASSERT_TRUE(m_page.writeCsv(csv));
    EXPECT_EQ(csv.data().count('\n'), static_cast<qsizetype>(tree().size()) + 1);

    for (QAction* action : m_page.pageActions()) {
        EXPECT_FALSE(action->shortcut().isEmpty()) << qPrintable(action->text());
        if (action->text() == QStringLiteral("Copy Collapsed Stacks"))
            action->trigger();
    }
    EXPECT_TRUE(
        QTest::qWaitFor([] { return QGuiApplication::clipboard()->text().contains(QLatin1Char(';')); }));
}

TEST_F(FlamePageTest, SaysHowToRecordStacks)
{
    m_page.showDevice(test::deviceData("alloc 0x1000 512"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !m_page.busy(); }));
    EXPECT_TRUE(m_page.notice().isVisible());
    EXPECT_TRUE(m_page.notice().text().code.contains(QStringLiteral("_record_memory_history(max_entries")));
}

TEST_F(FlamePageTest, ChangesMindsQuickly)
{
    open();
    for (int event = 0; event < 60; ++event)
        m_document.viewState().select(EventRange{ event, event });
    m_page.setUserFramesOnly(false);
    settle();
    EXPECT_EQ(tree().total(0), timeline().requested().at(59));
}

} // namespace
