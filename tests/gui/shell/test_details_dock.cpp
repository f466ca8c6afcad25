// SPDX-License-Identifier: GPL-3.0-or-later
// The dock that says who: its stacks can be read, folded and copied.
#include "tests/gui/shell/shell_test.h"
#include "tests/gui/tables/device_data.h"
#include "views/contents/details/details_panel.h"
#include "views/contents/details/stack_list.h"
#include "views/pages/memory/memory_page.h"
#include "views/pages/timeline/timeline_page.h"

#include <QClipboard>
#include <QDockWidget>
#include <QPushButton>
#include <QTableView>

using namespace strata;
using namespace strata::views;

namespace {

class DetailsDock : public test::ShellTest {
protected:
    /// The stack of the largest line of the sample.
    void openStack()
    {
        ASSERT_NO_FATAL_FAILURE(open(sample()));
        auto& memory = driver().shown<MemoryPage>("memory");
        memory.groupView()->selectRow(0);
        ASSERT_TRUE(test::eventually([&] { return stack() && stack()->topLevelItemCount() > 0; }));
    }
    StackList* stack()
    {
        for (auto* list : driver().view().details().findChildren<StackList*>())
            if (list->isVisible())
                return list;
        return nullptr;
    }
    QPushButton* fold()
    {
        for (auto* button : driver().view().details().findChildren<QPushButton*>())
            if (button->isVisible() && button->text().contains(QStringLiteral("framework frame")))
                return button;
        return nullptr;
    }
    static int widthOf(const QTreeWidgetItem& item, int column)
    {
        const QVariant own = item.data(column, Qt::FontRole);
        const QFont font = own.isValid() ? own.value<QFont>() : item.treeWidget()->font();
        return QFontMetrics(font).horizontalAdvance(item.text(column));
    }
};

TEST_F(DetailsDock, AStackNamesFileAndLineAtEveryWidth)
{
    ASSERT_NO_FATAL_FAILURE(openStack());
    for (const int width : { 264, 304, 480, 700 }) {
        SCOPED_TRACE(width);
        stack()->resize(width, stack()->height());
        EXPECT_EQ(stack()->columnWidth(0) + stack()->columnWidth(1), stack()->viewport()->width());
        int strong = 0;
        for (int row = 0; row < stack()->topLevelItemCount(); ++row) {
            const QTreeWidgetItem& item = *stack()->topLevelItem(row);
            EXPECT_GE(stack()->columnWidth(0), widthOf(item, 0)) << qPrintable(item.text(0));
            if (item.data(0, Qt::FontRole).value<QFont>().bold()) {
                EXPECT_TRUE(item.text(0).startsWith(QStringLiteral("train_gpt2.py:")));
                ++strong;
            }
            EXPECT_TRUE(item.toolTip(0).contains(item.text(1))) << "in full on hover";
        }
        EXPECT_GT(strong, 0);
    }
}

TEST_F(DetailsDock, APlaceTooLongForItsColumnLeavesRoomForTheFunction)
{
    StackList list;
    DetailsFrame frame{ QString(200, QLatin1Char('m')) + QStringLiteral(".py:1"),
        QStringLiteral("torch::autograd::AddmmBackward0::apply"), QStringLiteral("/m.py"), 1, true };
    list.resize(300, 100);
    list.show({ frame }, false, Palette::light());
    list.QWidget::show();
    EXPECT_GE(list.viewport()->width() - list.columnWidth(0), list.viewport()->width() / 5);
    frame.function.clear();
    list.show({ frame }, false, Palette::light());
    EXPECT_GE(list.columnWidth(0), list.viewport()->width() - 16) << "nobody else needs it";
}

TEST_F(DetailsDock, ALineInAFolderIsNamedWithoutIt)
{
    const auto data = test::deviceData("alloc 0x1000 100 stack=step@/home/me/project/optimizer.py:73\n"
                                       "alloc 0x2000 50 stack=main@train.py:9\n");
    const auto line = [&](const char* label) {
        return detailsOf(*data, Focus::onGroup(model::Grouping::Line, { label, 0 }), 1);
    };
    const Details inFolder = line("/home/me/project/optimizer.py:73");
    EXPECT_EQ(inFolder.title, QStringLiteral("/home/me/project/optimizer.py:73"));
    EXPECT_EQ(inFolder.shortTitle, QStringLiteral("optimizer.py:73"));
    EXPECT_TRUE(line("train.py:9").shortTitle.isEmpty()) << "it would say the same twice";
}

TEST_F(DetailsDock, SelectedFramesAreCopied)
{
    ASSERT_NO_FATAL_FAILURE(openStack());
    test::WindowDriver::click(
        *stack()->viewport(), stack()->visualItemRect(stack()->topLevelItem(0)).center());
    EXPECT_TRUE(stack()->topLevelItem(0)->isSelected());
    driver().key(Qt::Key_C, Qt::ControlModifier);
    const QString copied = QApplication::clipboard()->text();
    EXPECT_TRUE(copied.contains(stack()->topLevelItem(0)->text(0))) << qPrintable(copied);
    EXPECT_FALSE(copied.contains(QLatin1Char('\n'))) << "one frame";
}

TEST_F(DetailsDock, ShowingFrameworkFramesKeepsTheKeyboard)
{
    ASSERT_NO_FATAL_FAILURE(openStack());
    ASSERT_TRUE(fold()) << "the sample has frames of torch";
    const int folded = stack()->topLevelItemCount();
    fold()->setFocus(Qt::TabFocusReason);
    driver().key(Qt::Key_Space);
    EXPECT_GT(stack()->topLevelItemCount(), folded);
    ASSERT_TRUE(fold());
    EXPECT_TRUE(fold()->hasFocus());
    driver().key(Qt::Key_Space);
    EXPECT_EQ(stack()->topLevelItemCount(), folded);
    EXPECT_TRUE(fold()->hasFocus());
}

TEST_F(DetailsDock, WhatIsShownAnewLeavesTheKeyboardInTheDock)
{
    ASSERT_NO_FATAL_FAILURE(openStack());
    QPushButton* link = nullptr;
    for (auto* button : driver().view().details().findChildren<QPushButton*>())
        if (button->isVisible() && button->text().startsWith(QStringLiteral("event ")))
            link = button;
    ASSERT_TRUE(link);
    const QString text = link->text();
    link->setFocus(Qt::TabFocusReason);
    driver().view().details().setPalette(Palette::dark());
    const auto* now = qobject_cast<QPushButton*>(QApplication::focusWidget());
    ASSERT_TRUE(now) << "not the next widget of the window";
    EXPECT_EQ(now->text(), text);
    EXPECT_NE(now, link);
}

TEST_F(DetailsDock, ABlockLeadsToWhatRanWhileItLived)
{
    ASSERT_NO_FATAL_FAILURE(open(QStringLiteral(STRATA_TEST_DATA "/gpu/several.trace.json.gz")));
    auto* timeline = dynamic_cast<TimelinePage*>(driver().view().findPage(QStringLiteral("timeline")));
    ASSERT_TRUE(timeline);
    ASSERT_TRUE(test::eventually([&] { return timeline->lanes().data() && !timeline->busy(); }));
    const auto ran = [&]() -> QPushButton* {
        for (auto* button : driver().view().details().findChildren<QPushButton*>())
            if (button->isVisible() && button->text() == QStringLiteral("What ran while it lived"))
                return button;
        return nullptr;
    };
    EXPECT_FALSE(ran());
    driver().view().focusOn(Focus::onBlock(model::BlockId::born(3)));
    ASSERT_TRUE(test::eventually([&] { return ran() != nullptr; }));
    ran()->click();
    EXPECT_EQ(driver().view().currentPage(), timeline);
    EXPECT_TRUE(timeline->lanes().measured());

    ASSERT_NO_FATAL_FAILURE(open(sample()));
    driver().view().focusOn(Focus::onBlock(model::BlockId::born(3)));
    ASSERT_TRUE(test::eventually([&] { return stack() && stack()->topLevelItemCount() > 0; }));
    EXPECT_FALSE(ran()) << "it tells of memory alone";
}

} // namespace
