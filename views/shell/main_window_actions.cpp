// SPDX-License-Identifier: GPL-3.0-or-later
// What the window itself does for its actions, and when it can.
#include "views/shell/main_window.h"

#include "views/shell/dialogs.h"
#include "views/shell/shortcut_list.h"
#include "views/shell/status_bar.h"
#include "views/shell/theme.h"
#include "views/style/texts.h"

#include <QApplication>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>

namespace strata::views {

namespace {

const QString kTheme = QStringLiteral("view/theme");

} // namespace

QString MainWindow::askForFile()
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Open a Snapshot"), m_recent.folder(),
        tr("Snapshots and sessions (*.pickle *.pkl *.gz *.json *.html *.strata);;All files (*)"));
    if (!path.isEmpty())
        m_recent.setFolder(QFileInfo(path).absolutePath());
    return path;
}

void MainWindow::serveFile()
{
    const Actions& a = *m_actions;
    m_own.add(a.open, [this] {
        if (const QString path = askForFile(); !path.isEmpty())
            openFile(path);
    });
    m_own.add(
        a.openBeside,
        [this] {
            if (const QString path = askForFile(); !path.isEmpty())
                openBeside(path);
        },
        [this] { return m_opened != nullptr; });
    for (const QAction* action : a.kinds)
        m_own.add(action, [this, id = action->data().toString()] { showKind(id); });
    m_own.add(a.newWindow, [this] { openNewWindow({}); });
    m_own.add(a.closeFile, [this] {
        if (m_front)
            leaveKind();
        else if (m_opened)
            closeOpened();
        else
            close();
    });
    m_own.add(a.quit, [] { QApplication::closeAllWindows(); });
    connect(&m_recent, &RecentFiles::changed, this, &MainWindow::refreshRecent);
    for (const Sample& sample : samples())
        a.sampleMenu->addAction(sample.title, this, [this, sample] { openFile(sample.path); })
            ->setToolTip(sample.about);
    a.sampleMenu->setToolTipsVisible(true);
    a.sampleMenu->menuAction()->setVisible(!a.sampleMenu->isEmpty());
    refreshRecent();
}

void MainWindow::refreshRecent()
{
    QMenu& menu = *m_actions->recentMenu;
    menu.clear();
    for (const QString& path : m_recent.paths())
        menu.addAction(QFileInfo(path).fileName(), this, [this, path] { openFile(path); })->setToolTip(path);
    menu.setToolTipsVisible(true);
    menu.setEnabled(!menu.isEmpty());
    if (menu.isEmpty())
        return;
    menu.addSeparator();
    menu.addAction(tr("Clear This List"), this, [this] { m_recent.clear(); });
}

void MainWindow::serveEdit()
{
    const Actions& a = *m_actions;
    m_own.add(
        a.copy, [this] { copy(); }, [this] { return shown().canCopy(); });
    m_own.add(
        a.copyCommand, [this] { copyCommand(); }, [this] { return !shown().commandLine().isEmpty(); });
    m_own.add(a.preferences, [this] { editPreferences(*this, m_settings); });
}

void MainWindow::copy()
{
    const QString text = shown().copyText();
    if (text.isEmpty())
        return m_status->flash(tr("nothing is selected here that could be copied"));
    QApplication::clipboard()->setText(text);
    m_status->flash(
        tr("copied %n line(s)", nullptr, static_cast<int>(text.trimmed().count(QLatin1Char('\n')) + 1)));
}

void MainWindow::copyCommand()
{
    const QString line = shown().commandLine();
    QApplication::clipboard()->setText(line);
    m_status->flash(tr("copied: %1").arg(line));
}

void MainWindow::serveView()
{
    const Actions& a = *m_actions;
    m_own.add(a.fullScreen, [this] { m_actions->fullScreen->isChecked() ? showFullScreen() : showNormal(); });
    for (const QAction* action : a.themes)
        m_own.add(action, [this, choice = static_cast<Theme::Choice>(action->data().toInt())] {
            m_settings.setValue(kTheme, Theme::name(choice));
            m_theme.choose(choice);
        });
    for (int i = 0; i < a.pages.size(); ++i)
        m_own.add(
            a.pages[i],
            [this, i] {
                leaveKind();
                m_opened->goToPlace(i);
            },
            [this, i] { return m_opened && i < m_opened->places().size(); });
}

void MainWindow::serveHelp()
{
    const Actions& a = *m_actions;
    m_own.add(a.shortcuts, [this] { showShortcutList(); });
    m_own.add(a.recording, [this] {
        QApplication::clipboard()->setText(text::recordLines());
        addBanner({ .what = tr("These lines record a snapshot; they are on the clipboard now."),
            .hint = text::recordLines().trimmed() });
    });
    m_own.add(a.about, [this] { showAbout(*this); });
}

void MainWindow::showShortcutList()
{
    QList<Actions::Section> sections = m_actions->sections();
    for (const ContentKind& known : m_contents.kinds)
        sections += kind(known.id).sections();
    if (m_opened)
        sections += m_opened->sections();
    showShortcuts(*this, sections);
}

void MainWindow::refreshActions()
{
    for (QAction* action : m_actions->all())
        (m_own.contains(action) ? m_own : shown().served()).refresh(*action);
}

void MainWindow::refreshPlaces()
{
    const QString title = shown().title();
    setWindowTitle(title.isEmpty() ? tr("Strata") : tr("%1 - Strata").arg(title));
    const QStringList places = m_opened ? m_opened->places() : QStringList();
    for (int i = 0; i < m_actions->pages.size(); ++i) {
        QAction* action = m_actions->pages[i];
        action->setVisible(i < places.size());
        if (i < places.size())
            action->setText(places[i]);
    }
    QMenu& menu = *m_actions->pageMenu;
    menu.clear();
    menu.addActions(shown().pageActions());
    menu.menuAction()->setVisible(!menu.isEmpty());
    refreshActions();
}

} // namespace strata::views
