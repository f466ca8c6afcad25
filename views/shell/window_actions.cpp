// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/window_actions.h"

#include "views/shell/dialogs.h"
#include "views/shell/main_window.h"
#include "views/shell/recent_files.h"
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

WindowActions::WindowActions(MainWindow& window, Theme& theme, QSettings& settings, RecentFiles& recent,
    const std::vector<ContentKind>& kinds)
    : QObject(&window)
    , m_window(window)
    , m_theme(theme)
    , m_settings(settings)
    , m_recent(recent)
    , m_kinds(kinds)
{
    serveFile();
    serveEdit();
    serveView();
    serveHelp();
    for (QAction* action : window.actions().all())
        connect(action, &QAction::triggered, this, [this, action] { serving(*action).run(action); });
}

const ActionMap& WindowActions::serving(const QAction& action) const
{
    return m_served.contains(&action) ? m_served : m_window.shown().served();
}

void WindowActions::refresh() const
{
    for (QAction* action : m_window.actions().all())
        serving(*action).refresh(*action);
}

QString WindowActions::askForFile() const
{
    const QString path = QFileDialog::getOpenFileName(&m_window, tr("Open a Snapshot"), m_recent.folder(),
        tr("Snapshots and sessions (*.pickle *.pkl *.gz *.json *.html *.strata);;All files (*)"));
    if (!path.isEmpty())
        m_recent.setFolder(QFileInfo(path).absolutePath());
    return path;
}

void WindowActions::serveFile()
{
    const Actions& a = m_window.actions();
    m_served.add(a.open, [this] {
        if (const QString path = askForFile(); !path.isEmpty())
            m_window.openFile(path);
    });
    m_served.add(
        a.openBeside,
        [this] {
            if (const QString path = askForFile(); !path.isEmpty())
                m_window.openBeside(path);
        },
        [this] { return m_window.opened() != nullptr; });
    for (const QAction* action : a.kinds)
        m_served.add(action, [this, id = action->data().toString()] { m_window.showKind(id); });
    m_served.add(a.newWindow, [this] { m_window.openNewWindow({}); });
    m_served.add(a.closeFile, [this] { m_window.closeShown(); });
    m_served.add(a.quit, [] { QApplication::closeAllWindows(); });
    connect(&m_recent, &RecentFiles::changed, this, &WindowActions::refreshRecent);
    for (const Sample& sample : samples())
        a.sampleMenu->addAction(sample.title, this, [this, sample] { m_window.openFile(sample.path); })
            ->setToolTip(sample.about);
    a.sampleMenu->setToolTipsVisible(true);
    a.sampleMenu->menuAction()->setVisible(!a.sampleMenu->isEmpty());
    refreshRecent();
}

void WindowActions::refreshRecent()
{
    QMenu& menu = *m_window.actions().recentMenu;
    menu.clear();
    for (const QString& path : m_recent.paths())
        menu.addAction(QFileInfo(path).fileName(), this, [this, path] { m_window.openFile(path); })
            ->setToolTip(path);
    menu.setToolTipsVisible(true);
    menu.setEnabled(!menu.isEmpty());
    if (menu.isEmpty())
        return;
    menu.addSeparator();
    menu.addAction(tr("Clear This List"), this, [this] { m_recent.clear(); });
}

void WindowActions::serveEdit()
{
    const Actions& a = m_window.actions();
    m_served.add(
        a.copy, [this] { copy(); }, [this] { return m_window.shown().canCopy(); });
    m_served.add(
        a.copyCommand, [this] { copyCommand(); },
        [this] { return !m_window.shown().commandLine().isEmpty(); });
    m_served.add(a.preferences, [this] { editPreferences(m_window, m_settings); });
}

void WindowActions::copy() const
{
    const QString text = m_window.shown().copyText();
    if (text.isEmpty())
        return m_window.status().flash(tr("nothing is selected here that could be copied"));
    QApplication::clipboard()->setText(text);
    m_window.status().flash(
        tr("copied %n line(s)", nullptr, static_cast<int>(text.trimmed().count(QLatin1Char('\n')) + 1)));
}

void WindowActions::copyCommand() const
{
    const QString line = m_window.shown().commandLine();
    QApplication::clipboard()->setText(line);
    m_window.status().flash(tr("copied: %1").arg(line));
}

void WindowActions::serveView()
{
    const Actions& a = m_window.actions();
    m_served.add(a.fullScreen, [this] {
        m_window.actions().fullScreen->isChecked() ? m_window.showFullScreen() : m_window.showNormal();
    });
    for (const QAction* action : a.themes)
        m_served.add(action, [this, choice = static_cast<Theme::Choice>(action->data().toInt())] {
            m_settings.setValue(kTheme, Theme::name(choice));
            m_theme.choose(choice);
        });
    for (int i = 0; i < a.pages.size(); ++i)
        m_served.add(
            a.pages[i],
            [this, i] {
                m_window.leaveKind();
                m_window.opened()->goToPlace(i);
            },
            [this, i] { return m_window.opened() && i < m_window.opened()->places().size(); });
}

void WindowActions::serveHelp()
{
    const Actions& a = m_window.actions();
    m_served.add(a.shortcuts, [this] { showShortcutList(); });
    m_served.add(a.recording, [this] {
        QApplication::clipboard()->setText(text::recordLines());
        m_window.addBanner({ .what = tr("These lines record a snapshot; they are on the clipboard now."),
            .hint = text::recordLines().trimmed() });
    });
    m_served.add(a.about, [this] { showAbout(m_window); });
}

void WindowActions::showShortcutList() const
{
    QList<Actions::Section> sections = m_window.actions().sections();
    for (const ContentKind& known : m_kinds)
        sections += m_window.kind(known.id).sections();
    if (m_window.opened())
        sections += m_window.opened()->sections();
    showShortcuts(m_window, sections);
}

} // namespace strata::views
