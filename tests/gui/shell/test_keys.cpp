// SPDX-License-Identifier: GPL-3.0-or-later
// Keys mean what has the keyboard: a table, an open menu, a field, a menu of the window.
#include "tests/gui/shell/shell_test.h"
#include "views/pages/memory/memory_page.h"
#include "views/shell/actions.h"

#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QTableView>

#include <set>

using namespace strata;
using namespace strata::views;

namespace {

using Keys = test::ShellTest;

/// The key goes where the window system sends it: to the popup, where one is open.
void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
{
    QWidget* popup = QApplication::activePopupWidget();
    QWidget* to = popup ? popup : QApplication::activeWindow();
    ASSERT_TRUE(to);
    QTest::keyClick(to->windowHandle(), key, modifiers);
}

TEST_F(Keys, DownInTheTableOfGroupsMovesInTheTable)
{
    open(sample());
    auto& memory = driver().shown<MemoryPage>("memory");
    QTableView& table = *memory.groupView();
    table.selectRow(0);
    table.setFocus();
    for (int row = 1; row < 4; ++row) {
        driver().key(Qt::Key_Down);
        EXPECT_EQ(table.currentIndex().row(), row);
    }
    driver().key(Qt::Key_Up);
    EXPECT_EQ(table.currentIndex().row(), 2);
    EXPECT_EQ(memory.canvas()->highlight().group, memory.groupTable()->groupAt(2));

    memory.canvas()->setFocus();
    driver().key(Qt::Key_Up);
    EXPECT_TRUE(memory.canvas()->pinned()) << "in the picture it is the layer above";
}

TEST_F(Keys, LettersStayInAnOpenMenu)
{
    open(outOfMemorySample());
    auto& memory = driver().shown<MemoryPage>("memory");
    memory.canvas()->setFocus();
    QList<QAction*> letters{ window().actions().peak, window().actions().outOfMemory,
        window().actions().nextStep, window().actions().axis };
    for (QAction* action : memory.pageActions())
        for (const QKeySequence& keys : action->shortcuts())
            if (keys[0].keyboardModifiers() == Qt::NoModifier && keys[0].key() >= Qt::Key_A
                && keys[0].key() <= Qt::Key_Z)
                letters.append(action);
    ASSERT_GT(letters.size(), 6);
    int fired = 0;
    for (const QAction* action : letters)
        QObject::connect(action, &QAction::triggered, &window(), [&fired] { ++fired; });
    const auto pressAll = [&] {
        for (const QAction* action : letters)
            press(action->shortcut()[0].key());
    };
    QMenu menu(&window());
    menu.addAction(QStringLiteral("1"));
    menu.popup(window().mapToGlobal(QPoint(300, 300)));
    ASSERT_EQ(QApplication::activePopupWidget(), &menu);
    pressAll();
    EXPECT_EQ(fired, 0) << "in a menu";
    menu.close();

    auto* groupings = memory.findChild<QComboBox*>();
    ASSERT_TRUE(groupings);
    groupings->showPopup();
    ASSERT_TRUE(QApplication::activePopupWidget());
    pressAll();
    EXPECT_EQ(fired, 0) << "in a choice";
    groupings->hidePopup();
    EXPECT_FALSE(driver().state().selection());

    memory.canvas()->setFocus();
    press(Qt::Key_P);
    EXPECT_EQ(fired, 1) << "nothing is open any more";
}

TEST_F(Keys, NoFieldTakesTheLetterOfAMenu)
{
    open(sample());
    for (const Page* page : driver().view().pages())
        driver().view().showPage(page->id());
    window().actions().kinds.front()->trigger(); // Dry run
    const auto letterOf = [](const QString& text) {
        const qsizetype at = text.indexOf(QLatin1Char('&'));
        return at < 0 || at + 1 >= text.size() ? QChar() : text[at + 1].toLower();
    };
    std::set<QChar> menus;
    for (const QAction* action : window().menuBar()->actions())
        menus.insert(letterOf(action->text()));
    EXPECT_TRUE(menus.contains(QLatin1Char('g')));
    for (const QLabel* label : window().findChildren<QLabel*>())
        EXPECT_FALSE(label->buddy() && menus.contains(letterOf(label->text()))) << qPrintable(label->text());
    for (const QAbstractButton* button : window().findChildren<QAbstractButton*>())
        EXPECT_FALSE(menus.contains(letterOf(button->text()))) << qPrintable(button->text());
}

} // namespace
