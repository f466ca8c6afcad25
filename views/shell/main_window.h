// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

#include "views/shell/recent_files.h"
#include "views/shell/window_content.h"

#include <map>

class QSettings;
class QStackedWidget;
class QVBoxLayout;

namespace strata::views {

class Banner;
class StatusBar;
class Theme;
class TopBar;
class WindowActions;

/// The window: menus, the bars above and below, notices, and between them one content. That is the start, or
/// what was opened, or, in front of either, one of the kinds that every window can show. What is opened is
/// prepared beside what is shown, and takes the place of what was opened before when it is ready. Theme,
/// settings and contents must outlive it.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(Theme& theme, QSettings& settings, const ContentList& contents, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openFile(const QString& path, bool force = false);
    void openBeside(const QString& path); ///< beside what was opened, if that takes it; else as openFile()
    void openNewWindow(const QString& path); ///< empty: with the start
    void closeOpened();
    void closeShown(); ///< the kind in front, else what was opened, else the window
    void showKind(const QString& id);
    void addBanner(const Notice& notice); ///< a strip above the page
    void leaveKind(); ///< back to what was opened, else to the start

    [[nodiscard]] WindowContent* opened() const { return m_opened; } ///< shown, or behind a kind; or nullptr
    [[nodiscard]] WindowContent* pending() const { return m_pending; } ///< is being prepared; or nullptr
    [[nodiscard]] WindowContent& shown() const; ///< the last one that was, while another is prepared
    [[nodiscard]] WindowContent& kind(const QString& id); ///< made when it is first asked for
    [[nodiscard]] Actions& actions() const { return *m_actions; }
    [[nodiscard]] StatusBar& status() const { return *m_status; }
    [[nodiscard]] QList<Banner*> banners() const;

Q_SIGNALS:
    void fileShown(); ///< what was to be opened is there
    void openFailed();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    void build();
    void applyTheme();
    void addContent(WindowContent& content);
    void adopt();
    void endPending();
    void arrange(); // shows what belongs into the window now
    void clearBanners();
    void openDropped(const QStringList& files);
    [[nodiscard]] ContentContext context();

    void refreshPlaces(); // title, menu "Page" and Ctrl+1 to Ctrl+0

    Theme& m_theme;
    QSettings& m_settings;
    const ContentList& m_contents;
    RecentFiles m_recent;
    std::shared_ptr<ColourTable> m_colours; // jobs may still ask it when the window is gone
    Actions* m_actions;
    WindowActions* m_own = nullptr; // what the window itself does
    TopBar* m_top = nullptr;
    QVBoxLayout* m_banners = nullptr;
    QStackedWidget* m_stack = nullptr;
    StatusBar* m_status = nullptr;
    WindowContent* m_start = nullptr;
    WindowContent* m_opened = nullptr;
    WindowContent* m_pending = nullptr; // hidden
    QWidget* m_progress = nullptr; // of m_pending
    std::map<QString, WindowContent*> m_kinds;
    WindowContent* m_front = nullptr; // one of m_kinds, before the others; or nullptr
};

} // namespace strata::views
