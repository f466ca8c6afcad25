// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>
#include <QObject>

#include "views/shell/action_map.h"

#include <vector>

class QSettings;

namespace strata::views {

class MainWindow;
class RecentFiles;
class Theme;
struct ContentKind;

/// What the window itself does for its actions, and when it can; the rest of them it leaves to the content
/// that is shown. Fills the menus of recent files and samples, too. A child of the window, made once the
/// window has its menus. `recent` is a member of the window and goes shortly before it, when nothing is asked
/// of it any more; all else that it is given must outlive it. GUI thread only.
class WindowActions : public QObject {
    Q_DECLARE_TR_FUNCTIONS(strata::views::MainWindow)
public:
    WindowActions(MainWindow& window, Theme& theme, QSettings& settings, RecentFiles& recent,
        const std::vector<ContentKind>& kinds);

    void refresh() const; ///< enables what can be triggered now, checks what is on

private:
    void serveFile();
    void serveEdit();
    void serveView();
    void serveHelp();
    [[nodiscard]] const ActionMap& serving(const QAction& action) const;
    [[nodiscard]] QString askForFile() const; // empty: cancelled
    void copy() const;
    void copyCommand() const;
    void showShortcutList() const;
    void refreshRecent();

    MainWindow& m_window;
    Theme& m_theme;
    QSettings& m_settings;
    RecentFiles& m_recent;
    const std::vector<ContentKind>& m_kinds;
    ActionMap m_served;
};

} // namespace strata::views
