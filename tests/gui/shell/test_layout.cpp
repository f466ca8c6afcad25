// SPDX-License-Identifier: GPL-3.0-or-later
// What fits a window of 1280x800, what is remembered, and what follows the theme.
#include "tests/gui/shell/shell_test.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/parts/summary_facts.h"
#include "views/shell/top_bar.h"
#include "views/widgets/call_tree_view.h"

#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>

using namespace strata;
using namespace strata::views;

namespace {

class Layout : public test::ShellTest {
protected:
    QSplitter& splitter()
    {
        return *driver().page<Page>("memory").findChild<QSplitter*>(QStringLiteral("memory"));
    }
};

TEST_F(Layout, MemoryShowsEightRowsBesideAVerdictOfTwoLines)
{
    window().resize(1280, 800);
    ASSERT_NO_FATAL_FAILURE(open(outOfMemorySample()));
    auto& memory = driver().shown<MemoryPage>("memory");
    EXPECT_GE(memory.groupView()->viewport()->height(), 8 * memory.groupView()->rowHeight(0));
    QLabel* verdict = nullptr;
    for (auto* label : memory.findChildren<QLabel*>())
        if (label->text().contains(QStringLiteral("Out of memory")))
            verdict = label;
    ASSERT_TRUE(verdict);
    const int two = 2 * QFontMetrics(verdict->font()).lineSpacing() + 2;
    EXPECT_LE(verdict->height(), two);
    EXPECT_LE(verdict->heightForWidth(verdict->width()), two) << "nothing of what it says is cut";
    EXPECT_TRUE(verdict->text().endsWith(QLatin1Char('.'))) << qPrintable(verdict->text());
    QPushButton* more = nullptr;
    for (auto* button : memory.findChildren<QPushButton*>())
        if (button->isVisible() && button->text() == QStringLiteral("All of the verdict"))
            more = button;
    ASSERT_TRUE(more) << "it has three lines";
    more->click();
    ASSERT_TRUE(test::eventually([&] { return verdict->height() > two; }));
    EXPECT_FALSE(more->isVisible());
    EXPECT_GE(verdict->height(), verdict->heightForWidth(verdict->width()));
}

TEST_F(Layout, ButtonsStandTogetherWhereThereIsNoDocument)
{
    window().resize(1280, 800);
    const QList<QToolButton*> buttons = window().findChild<TopBar*>()->findChildren<QToolButton*>();
    ASSERT_GE(buttons.size(), 2);
    EXPECT_TRUE(test::eventually([&] {
        return window().width() == 1280 && buttons[0]->x() <= 16
            && buttons[1]->x() - buttons[0]->geometry().right() <= 16;
    })) << buttons[0]->x()
        << " and " << buttons[1]->x();
}

TEST_F(Layout, ASelectedRowKeepsItsColour)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    auto& view = *driver().shown<MemoryPage>("memory").groupView();
    const auto swatch = [&] {
        const QImage row = view.viewport()->grab(view.visualRect(view.model()->index(0, 0))).toImage();
        return row.copy(5, row.height() / 2 - 2, 6, 6);
    };
    view.clearSelection();
    const QImage before = swatch();
    EXPECT_NE(before.pixelColor(0, 0), m_theme.palette()[Palette::Role::Surface]);
    view.selectRow(0);
    settle();
    EXPECT_EQ(swatch(), before);
}

TEST_F(Layout, ANarrowCallTreeShowsItsFiguresWhole)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    auto& page = driver().shown<Page>("flame");
    auto* tree = page.findChild<CallTreeView*>();
    ASSERT_TRUE(tree);
    auto* splitter = page.findChild<QSplitter*>();
    ASSERT_TRUE(splitter);
    splitter->setSizes({ splitter->width(), 1 });
    settle();
    EXPECT_EQ(tree->horizontalScrollBar()->maximum(), 0)
        << tree->width() << " of at least " << tree->minimumSizeHint().width() << " for "
        << tree->header()->length();
}

TEST_F(Layout, TheSplitterOfMemoryIsRemembered)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)driver().shown<MemoryPage>("memory");
    const int whole = splitter().height();
    splitter().setSizes({ whole / 4, whole - whole / 4 });
    const QList<int> sizes = splitter().sizes();
    window().close();
    makeWindow();
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    (void)driver().shown<MemoryPage>("memory");
    EXPECT_NEAR(splitter().sizes().front(), sizes.front(), 8);
}

TEST_F(Layout, LinksFollowTheThemeAtOnce)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    m_theme.choose(Theme::Choice::Light);
    int links = 0;
    for (Page* page : driver().view().pages()) {
        driver().view().showPage(page->id());
        settle();
        m_theme.choose(Theme::Choice::Dark);
        for (auto* label : page->findChildren<QLabel*>()) {
            const QString text = label->text();
            if (!label->isVisible() || !text.contains(QStringLiteral("<a ")))
                continue;
            const QImage shown = label->grab().toImage();
            label->clear();
            label->setText(text);
            EXPECT_EQ(label->grab().toImage(), shown) << qPrintable(page->id()) << " " << qPrintable(text);
            ++links;
        }
        m_theme.choose(Theme::Choice::Light);
    }
    EXPECT_GE(links, 3);
}

TEST_F(Layout, WordsExplainThemselvesAsTheManualDoes)
{
    ASSERT_NO_FATAL_FAILURE(open(sample()));
    QFile manual(QStringLiteral(STRATA_TEST_DATA "/../../docs/words.md"));
    ASSERT_TRUE(manual.open(QIODevice::ReadOnly));
    const QString words = QString::fromUtf8(manual.readAll()).remove(QLatin1Char('`'));
    int explained = 0;
    for (const auto* label : driver().page<Page>("summary").findChildren<QLabel*>()) {
        const QString about = aboutWord(label->text());
        if (about.isEmpty())
            continue;
        EXPECT_EQ(label->toolTip(), about) << qPrintable(label->text());
        const QString word = label->text().section(QLatin1Char(','), 0, 0);
        EXPECT_TRUE(words.contains(QStringLiteral("| %1 | %2 |").arg(word, about))) << qPrintable(word);
        ++explained;
    }
    EXPECT_GE(explained, 10);
}

} // namespace
