// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/pages/parts/page.h"

#include <vector>

class QDockWidget;
class QMainWindow;
class QMimeData;
class QStackedWidget;

namespace strata::views {

class DetailsPanel;
class FilterNote;
class Minimap;
class PageWindow;
class Rail;

/// Everything that shows one document: the rail, its pages, the details dock and the minimap. Remembers which
/// pages were shown, so that one can walk back and forth through pages and their zooms, like a browser.
class DocumentView : public QWidget {
    Q_OBJECT
public:
    /// Without pages: those are made one by one, so that the event loop can run in between.
    explicit DocumentView(Document& document, QWidget* parent = nullptr);
    ~DocumentView() override;

    /// Makes the next page, the first of which is shown; false if all are there.
    bool addNextPage();
    [[nodiscard]] bool complete() const; ///< all pages are there

    [[nodiscard]] Document& document() const { return m_document; }
    [[nodiscard]] const std::vector<Page*>& pages() const { return m_pages; }
    [[nodiscard]] Page* currentPage() const; ///< of the window that has the focus, if a page was torn off
    [[nodiscard]] Page* findPage(const QString& id) const; ///< nullptr if there is none
    [[nodiscard]] DetailsPanel& details() const { return *m_details; }
    [[nodiscard]] QDockWidget& detailsDock() const { return *m_dock; }
    [[nodiscard]] Minimap& minimap() const { return *m_minimap; }

    void showPage(int index);
    void showPage(const QString& id);
    /// Selects the event on its device and has the current page bring it into view.
    void goTo(int device, model::EventIndex event);
    void openPage(const QString& id, std::optional<model::EventIndex> event); ///< as Page::openPage
    /// Shows it in the details and has the pages mark it: all but the one that was clicked.
    void focusOn(const Focus& focus, const Page* clicked = nullptr);
    void tearOff(int index);
    /// Gives the keyboard to the page that is shown.
    void focusPage();

    [[nodiscard]] bool canGoBack() const;
    [[nodiscard]] bool canGoForward() const;
    void goBack();
    void goForward();

    void setPalette(const Palette& palette);
    /// Others stand beside it: its rail shows icons alone, and its dock is closed until it is asked for, or
    /// the view stands alone again.
    void setCompact(bool compact);
    void setShared(const QList<QAction*>& actions); ///< work in windows of torn-off pages too
    [[nodiscard]] Rail& rail() const { return *m_rail; }
    [[nodiscard]] QByteArray saveState() const; ///< of the dock
    void restoreState(const QByteArray& state);

Q_SIGNALS:
    void currentPageChanged();
    void railFolded(); ///< other groups of the rail show their icons alone
    void historyChanged();
    void failed(const strata::model::Error& error); ///< of a page: something of it cannot be shown
    void busyChanged(); ///< a page began or ended some work: what can be copied may differ
    void focusShown(const strata::views::Focus& focus);
    void hoverText(const QString& text);
    void openFrame(const QString& file, qint64 line);
    void filesDropped(const QMimeData& files); ///< on the window of a torn-off page

private:
    void addPage(Page* page, const QString& group);
    void showAbsences(); ///< which pages the file cannot fill
    void place(int index);
    void bringBack(int index);
    [[nodiscard]] int indexOf(const Page* page) const;

    Document& m_document;
    Palette m_palette = Palette::light();
    Rail* m_rail;
    QMainWindow* m_host; // holds the stack and the dock
    FilterNote* m_filterNote; // of the page in the stack
    QStackedWidget* m_stack;
    QDockWidget* m_dock;
    bool m_compact = false;
    bool m_hadDetails = false; // before it was compact
    DetailsPanel* m_details;
    Minimap* m_minimap;
    std::vector<Page*> m_pages;
    std::vector<PageWindow*> m_windows; // by page; nullptr while it is in the stack
    QList<QAction*> m_shared;
    std::vector<int> m_visited; // pages shown, oldest first
    std::size_t m_now = 0; // the one shown, in m_visited
};

} // namespace strata::views
