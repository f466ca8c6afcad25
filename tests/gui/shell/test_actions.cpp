// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/shell/shell_test.h"
#include "views/shell/actions.h"
#include "views/shell/dialogs.h"
#include "views/shell/shortcut_list.h"

#include <QClipboard>
#include <QDialog>
#include <QMenu>
#include <QMenuBar>

#include <map>

using namespace strata;
using namespace strata::views;

namespace {

using ActionsTest = test::ShellTest;

std::string plain(const QString& text)
{
    return QString(text).remove(QLatin1Char('&')).remove(QStringLiteral("…")).toStdString();
}

TEST_F(ActionsTest, NoShortcutMeansTwoThings)
{
    open(sample());
    std::map<QString, std::string> window;
    for (const QAction* action : this->window().actions().all())
        for (const QKeySequence& key : action->shortcuts()) {
            const auto [known, isNew] = window.emplace(key.toString(), plain(action->text()));
            EXPECT_TRUE(isNew) << qPrintable(key.toString()) << ": " << known->second << " and "
                               << plain(action->text());
        }
    EXPECT_GT(window.size(), 40u);
    for (const Page* page : driver().view().pages()) {
        std::map<QString, std::string> all = window;
        for (const QAction* action : page->pageActions()) {
            EXPECT_FALSE(action->shortcuts().isEmpty()) << plain(action->text());
            EXPECT_NE(action->shortcutContext(), Qt::WindowShortcut)
                << "only where the page has the keyboard";
            for (const QKeySequence& key : action->shortcuts()) {
                const auto [known, isNew] = all.emplace(key.toString(), plain(action->text()));
                EXPECT_TRUE(isNew) << qPrintable(page->id()) << ", " << qPrintable(key.toString()) << ": "
                                   << known->second << " and " << plain(action->text());
            }
        }
    }
}

TEST_F(ActionsTest, NoMnemonicStandsTwiceInAMenu)
{
    open(sample());
    const auto check = [](const QString& where, const QList<QAction*>& actions) {
        std::map<QChar, std::string> letters;
        for (const QAction* action : actions) {
            const qsizetype at = action->text().indexOf(QLatin1Char('&'));
            if (at < 0 || !action->isVisible() || action->isSeparator())
                continue;
            const auto [known, isNew]
                = letters.emplace(action->text()[at + 1].toLower(), plain(action->text()));
            EXPECT_TRUE(isNew) << qPrintable(where) << ": " << known->second << " and "
                               << plain(action->text());
        }
    };
    check(QStringLiteral("menu bar"), window().menuBar()->actions());
    for (const QAction* action : window().menuBar()->actions())
        check(action->text(), action->menu()->actions());
}

TEST_F(ActionsTest, TheHelpPageListsEveryAction)
{
    open(sample());
    window().actions().shortcuts->trigger();
    auto* dialog = window().findChild<QDialog*>();
    ASSERT_TRUE(dialog && dialog->isVisible());
    const QStringList texts = test::shownTexts(*dialog);
    const auto expectListed = [&](const QAction* action) {
        EXPECT_TRUE(texts.contains(QString::fromStdString(plain(action->text())))) << plain(action->text());
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys.append(key.toString(QKeySequence::NativeText));
        EXPECT_TRUE(keys.isEmpty() || texts.contains(keys.join(QStringLiteral(" or "))))
            << plain(action->text());
    };
    int listed = 0;
    for (const QAction* action : window().actions().all())
        if (action->isVisible()) {
            expectListed(action);
            ++listed;
        }
    for (const Page* page : driver().view().pages())
        for (const QAction* action : page->pageActions()) {
            expectListed(action);
            ++listed;
        }
    EXPECT_GT(listed, 60);
    for (const char* mouse : { "Wheel", "Drag", "Click", "Double click" })
        EXPECT_TRUE(texts.contains(QLatin1String(mouse))) << mouse;
    EXPECT_FALSE(texts.contains(QStringLiteral("Page 9"))) << "there is no such page";
}

TEST_F(ActionsTest, WithoutAFileOnlyWhatMakesSenseCanBeDone)
{
    const Actions& a = window().actions();
    for (const QAction* action : { a.undo, a.redo, a.copy, a.copyStack, a.copyTable, a.copyPicture,
             a.copyCommand, a.filter, a.saveTable, a.savePicture, a.peak, a.outOfMemory, a.nextStep,
             a.nextEvent, a.back, a.forward, a.axis })
        EXPECT_FALSE(action->isEnabled()) << plain(action->text());
    for (const QAction* action :
        { a.open, a.newWindow, a.quit, a.find, a.findAll, a.shortcuts, a.recording, a.about, a.preferences })
        EXPECT_TRUE(action->isEnabled()) << plain(action->text());
    open(sample());
    for (const QAction* action : { a.copy, a.copyTable, a.copyPicture, a.copyCommand, a.find, a.filter,
             a.saveTable, a.savePicture, a.peak, a.outOfMemory, a.nextStep, a.nextEvent, a.axis })
        EXPECT_TRUE(action->isEnabled()) << plain(action->text());
    window().closeOpened();
    EXPECT_FALSE(a.peak->isEnabled());
}

TEST_F(ActionsTest, EveryPageCanBeCopied)
{
    open(outOfMemorySample());
    const Actions& a = window().actions();
    for (const Page* page : driver().view().pages()) {
        SCOPED_TRACE(qPrintable(page->id()));
        driver().view().showPage(page->id());
        settle();
        QApplication::clipboard()->clear();
        EXPECT_EQ(a.copyTable->isEnabled(), page->hasCsv());
        if (page->hasCsv()) { // Notes has none before there is a note
            a.copyTable->trigger();
            ASSERT_TRUE(test::eventually(
                [] { return QApplication::clipboard()->text().count(QLatin1Char('\n')) > 1; }));
        }
        a.copyCommand->trigger();
        EXPECT_TRUE(QApplication::clipboard()->text().startsWith(QStringLiteral("strata ")));
        EXPECT_TRUE(QApplication::clipboard()->text().contains(outOfMemorySample()));
        a.copyPicture->trigger();
        EXPECT_FALSE(QApplication::clipboard()->pixmap().isNull());
    }
}

} // namespace
