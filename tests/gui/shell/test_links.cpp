// SPDX-License-Identifier: GPL-3.0-or-later
// A click on a line, a frame or an instant shows it on every page and in the details.
#include "model/analysis/summary/summary.h"
#include "model/session/save.h"
#include "tests/gui/shell/shell_test.h"
#include "tests/support/make_recording.h"
#include "views/contents/details/details_panel.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/summary/share_list.h"
#include "views/pages/tables/flame_page.h"
#include "views/shell/actions.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/call_tree_view.h"
#include "views/widgets/flame/flame_graph.h"

#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QTableView>

using namespace strata;
using namespace strata::views;

namespace {

class Links : public test::ShellTest {
protected:
    MemoryPage& memory() { return driver().shown<MemoryPage>("memory"); }
    const Details& details() { return driver().view().details().details(); }
    /// The first label of a page that has a link to a line.
    QLabel* verdict(const char* page)
    {
        for (auto* label : driver().page<Page>(page).findChildren<QLabel*>())
            if (label->isVisible() && label->text().contains(QStringLiteral("href=\"line:")))
                return label;
        return nullptr;
    }
    static QString linkIn(const QLabel& label, const QString& shown)
    {
        const QString text = label.text();
        const qsizetype end = text.indexOf(shown);
        const qsizetype begin = text.lastIndexOf(QStringLiteral("href=\""), end) + 6;
        return end < 0 ? QString() : text.mid(begin, text.indexOf(QLatin1Char('"'), begin) - begin);
    }
    /// Table, picture and details of Memory say the same line.
    void expectLine(const QString& line)
    {
        ASSERT_TRUE(test::eventually([&] { return driver().settled() && details().title == line; }))
            << qPrintable(details().title);
        EXPECT_EQ(details().kind, QStringLiteral("Line"));
        const QModelIndexList rows = memory().groupView()->selectionModel()->selectedRows();
        ASSERT_EQ(rows.size(), 1);
        EXPECT_EQ(rows.front().data().toString(), line);
        const auto& highlight = memory().canvas()->highlight().group;
        ASSERT_TRUE(highlight);
        EXPECT_EQ(memory().groupTable()->rowOf(*highlight), rows.front().row());
    }
};

TEST_F(Links, ALineInTheVerdictOfSummaryIsSelectedEverywhere)
{
    ASSERT_NO_FATAL_FAILURE(open(outOfMemorySample()));
    driver().state().setGrouping(model::Grouping::Stream);
    settle();
    QLabel* label = verdict("summary");
    ASSERT_TRUE(label);
    const QString link = linkIn(*label, QStringLiteral("train_gpt2.py:19"));
    ASSERT_TRUE(text::lineOfLink(link)) << qPrintable(label->text());
    Q_EMIT label->linkActivated(link);
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_EQ(driver().state().selection(), (EventRange{ 977, 977 }));
    expectLine(QStringLiteral("train_gpt2.py:19"));
}

TEST_F(Links, ALineOfBlocksOlderThanTheTraceIsLitWhereTheyAre)
{
    const QString file = m_scratch.filePath(QStringLiteral("late.strata"));
    const auto session
        = model::Session::fromRecording(test::makeRecording("alloc 0x1000 100 stack=f@a.py:1\n"
                                                            "free_requested 0x9000 5000\n"
                                                            "free_completed 0x9000 5000\n"
                                                            "alloc 0x2000 300 stack=g@b.py:2\n"));
    ASSERT_TRUE(session);
    ASSERT_TRUE(model::saveSession(
        (*session)->recording(), file.toStdString(), model::digestsOf((*session)->devices())));
    open(file);
    auto& page = memory();
    page.groupView()->selectRow(0);
    ASSERT_EQ(page.groupView()->selectionModel()->selectedRows().front().data().toString(),
        QStringLiteral("no stack recorded"));
    EXPECT_TRUE(page.canvas()->highlight().beforeTrace);
    page.groupView()->selectRow(1);
    EXPECT_FALSE(page.canvas()->highlight().beforeTrace);
}

TEST_F(Links, ALineInTheVerdictOfMemoryIsSelectedThere)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    memory();
    QLabel* label = verdict("memory");
    ASSERT_TRUE(label) << "the biggest line is a link";
    const QString link = linkIn(*label, QStringLiteral("train_gpt2.py:37"));
    ASSERT_TRUE(text::lineOfLink(link));
    Q_EMIT label->linkActivated(link);
    EXPECT_EQ(driver().state().selection(), (EventRange{ 4'915, 4'915 }));
    expectLine(QStringLiteral("train_gpt2.py:37"));
}

TEST_F(Links, TheVerdictOfMemoryFollowsTheGroupingAndItsGroupIsSelectedThere)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    memory();
    QLabel* label = verdict("memory");
    ASSERT_TRUE(label);
    driver().state().setGrouping(model::Grouping::Category);
    settle();
    const QString name = memory().groupTable()->index(0, 0).data().toString();
    ASSERT_TRUE(test::eventually([&] { return label->text().contains(name); })) << qPrintable(label->text());
    const QString link = linkIn(*label, name);
    ASSERT_TRUE(text::groupOfLink(link)) << qPrintable(link);
    Q_EMIT label->linkActivated(link);
    settle();
    const QModelIndexList rows = memory().groupView()->selectionModel()->selectedRows();
    ASSERT_EQ(rows.size(), 1);
    EXPECT_EQ(rows.front().data().toString(), name);
    driver().state().setGrouping(model::Grouping::Line);
    EXPECT_TRUE(test::eventually([&] { return label->text().contains(QStringLiteral("train_gpt2.py:37")); }));
}

TEST_F(Links, ARowOfSummaryIsSelectedOnMemoryToo)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    auto* list = driver().page<Page>("summary").findChild<ShareList*>();
    ASSERT_TRUE(list);
    driver().page<Page>("summary").findChild<QScrollArea*>()->ensureWidgetVisible(list);
    test::WindowDriver::click(*list->viewport(), list->visualItemRect(list->item(0, 0)).center());
    EXPECT_EQ(driver().currentPage(), QStringLiteral("summary")) << "a click tells, it does not lead away";
    expectLine(QStringLiteral("train_gpt2.py:37"));
    // With another grouping there is no such row; back at lines it is there again.
    driver().state().setGrouping(model::Grouping::Stream);
    ASSERT_TRUE(test::eventually([&] { return driver().settled(); }));
    EXPECT_FALSE(memory().canvas()->highlight().group);
    driver().state().setGrouping(model::Grouping::Line);
    expectLine(QStringLiteral("train_gpt2.py:37"));
    // Another device or nothing selected: nothing is marked.
    Q_EMIT driver().page<Page>("events").focusChanged(Focus::onEvent(3));
    EXPECT_FALSE(memory().canvas()->highlight().group);
    EXPECT_TRUE(memory().groupView()->selectionModel()->selectedRows().isEmpty());
}

TEST_F(Links, PeakAndOutOfMemoryFillTheDetails)
{
    ASSERT_NO_FATAL_FAILURE(open(outOfMemorySample()));
    ASSERT_TRUE(details().empty());
    window().actions().peak->trigger();
    EXPECT_EQ(details().kind, QStringLiteral("Event 875"));
    EXPECT_FALSE(details().frames.empty());
    window().actions().outOfMemory->trigger();
    EXPECT_EQ(details().kind, QStringLiteral("Event 977"));
    // What was clicked stays, with its figures of the other instant.
    memory().groupView()->selectRow(0);
    window().actions().peak->trigger();
    EXPECT_EQ(details().title, QStringLiteral("train_gpt2.py:37"));
    EXPECT_EQ(details().size.front().value, QStringLiteral("7.77 GiB"));
}

TEST_F(Links, EveryFrameOfFlameGraphAndCallTreeFillsTheDetails)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    auto& flame = driver().shown<FlamePage>("flame");
    flame.setUserFramesOnly(false);
    settle();
    const FlameTree& tree = *flame.graph().tree();
    ASSERT_GT(tree.size(), 10u);
    for (FlameTree::Node node = 0; node < std::min<std::uint32_t>(tree.size(), 200); ++node) {
        driver().view().focusOn({});
        ASSERT_TRUE(details().empty());
        Q_EMIT flame.graph().chosen(node);
        ASSERT_FALSE(details().empty()) << node << " " << qPrintable(tree.function(node));
        if (details().kind == QStringLiteral("Frame")) {
            EXPECT_TRUE(details().title.contains(tree.function(node)));
            EXPECT_EQ(details().size.front().exact, text::exactBytes(tree.total(node)));
            EXPECT_EQ(static_cast<int>(details().frames.size()), tree.depth(node));
        }
    }
    driver().view().focusOn({});
    Q_EMIT flame.treeView().chosen(1);
    EXPECT_FALSE(details().empty());
}

TEST_F(Links, MemoryOpensAtTheOutOfMemoryAndSummaryNamesTheInstantOfEachList)
{
    ASSERT_NO_FATAL_FAILURE(open(outOfMemorySample()));
    const QStringList texts = test::shownTexts(driver().page<Page>("summary"));
    EXPECT_TRUE(texts.contains(QStringLiteral("event 977"))) << qPrintable(texts.join(u'\n'));
    EXPECT_TRUE(texts.contains(QStringLiteral("event 875 at 3.684 s")));
    EXPECT_EQ(memory().tableEvent(), 977);
    EXPECT_TRUE(test::shows(memory(), QStringLiteral("At the out-of-memory, event 977 at 3.693 s")));
    EXPECT_EQ(memory().groupTable()->live().event, 977);
    EXPECT_FALSE(driver().state().selection()) << "nothing was selected";
    window().actions().peak->trigger();
    settle();
    EXPECT_EQ(memory().tableEvent(), 875);
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    EXPECT_EQ(memory().tableEvent(), 4'915) << "without one, at the peak";
}

TEST_F(Links, WhoAskedIsALinkToo)
{
    const QString file = QStringLiteral(STRATA_TEST_DATA "/versions/torch2.15_oom.pickle.gz");
    ASSERT_NO_FATAL_FAILURE(open(file));
    QLabel* label = verdict("summary");
    ASSERT_TRUE(label);
    const qsizetype begin = label->text().indexOf(QStringLiteral("href=\"line:")) + 6;
    Q_EMIT label->linkActivated(
        label->text().mid(begin, label->text().indexOf(QLatin1Char('"'), begin) - begin));
    EXPECT_EQ(driver().currentPage(), QStringLiteral("memory"));
    EXPECT_FALSE(details().empty());
}

} // namespace
