// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QMainWindow>

#include "views/models/document.h"
#include "views/pages/page.h"
#include "views/shell/banner.h"
#include "views/shell/recent_files.h"

class QMimeData;
class QSettings;
class QStackedWidget;
class QVBoxLayout;

namespace strata::views {

class Actions;
class DocumentView;
class DryRunPage;
class LoadingView;
class StartPage;
class StatusBar;
class Theme;
class TopBar;

/// The window. Shows the start page, the page Dry run, or one document; a file that is opened loads beside
/// the one shown and takes its place when it is ready, or when its outline is. Theme and settings must
/// outlive it.
class MainWindow : public QMainWindow {
    Q_OBJECT
public:
    MainWindow(Theme& theme, QSettings& settings, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openFile(const QString& path, bool force = false);
    void closeFile();
    void showDryRun();
    void leaveDryRun(); ///< back to the document, else to the start page

    [[nodiscard]] Document* document() const { return m_document; } ///< the one shown; nullptr: none
    [[nodiscard]] Document* loading() const { return m_loading; } ///< nullptr: none
    [[nodiscard]] DocumentView* view() const { return m_view; }
    [[nodiscard]] bool showsDocument() const { return m_view && !m_dryRunShown; } ///< not the page Dry run
    [[nodiscard]] DryRunPage& dryRun(); ///< made when it is first asked for
    [[nodiscard]] Actions& actions() const { return *m_actions; }
    [[nodiscard]] StatusBar& status() const { return *m_status; }
    [[nodiscard]] QList<Banner*> banners() const;

Q_SIGNALS:
    void documentShown(); ///< a file is open, its pages are there, if only with its outline
    void openFailed();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;

private:
    void build();
    void applyTheme();
    void adopt();
    void prepareView();
    void endLoading();
    void loadingChanged();
    void showFailure(const model::Error& error, const QString& path);
    void showDocumentState();
    Banner* addBanner(Banner::Kind kind, const QString& what, const QString& hint);
    void clearBanners();
    void openNewWindow(const QString& path);
    void openFiles(const QMimeData& dropped);

    void connectDryRun();
    void showEndedDryRun();
    [[nodiscard]] QWidget* home() const;
    void updateTitle();

    void connectFile();
    void connectEdit();
    void connectNotes();
    void addNote();
    void nameRange();
    void saveFilter();
    void showKept(const QString& file);
    void connectView();
    void connectGo();
    void connectHelp();
    void updateActions();
    void updatePageMenu();
    void updateRecentMenu();
    void selectEvent(model::EventIndex event);
    void selectRange(const EventRange& range);
    void openFrame(const QString& file, qint64 line);
    void report(const model::Result<void>& result, const QString& done);
    [[nodiscard]] Page* page() const;
    [[nodiscard]] std::shared_ptr<const DeviceData> device() const;

    Theme& m_theme;
    QSettings& m_settings;
    RecentFiles m_recent;
    Actions* m_actions;
    TopBar* m_top = nullptr;
    QVBoxLayout* m_banners = nullptr;
    QStackedWidget* m_stack = nullptr;
    StartPage* m_start = nullptr;
    LoadingView* m_loadingView = nullptr;
    StatusBar* m_status = nullptr;
    Document* m_document = nullptr;
    Document* m_loading = nullptr;
    DocumentView* m_view = nullptr;
    DocumentView* m_nextView = nullptr; // of m_loading, hidden
    DryRunPage* m_dryRun = nullptr;
    bool m_dryRunShown = false; // or behind what is loading
};

} // namespace strata::views
