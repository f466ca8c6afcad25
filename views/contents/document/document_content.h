// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/contents/document/document_pane.h"
#include "views/pages/parts/page.h"
#include "views/shell/window_content.h"

#include <QPointer>

#include <memory>
#include <vector>

class QSplitter;
class QVBoxLayout;

namespace strata::views {

class DocumentActions;
class DocumentBar;
class DocumentStatus;
class Finder;
class MainWindow;

/// Documents as a content of the window: one, or several side by side, each with its own rail, pages, details
/// and minimap. One of them is the active one, where the keyboard was last: bars, menus and shortcuts are
/// its.
class DocumentContent : public WindowContent {
    Q_OBJECT
public:
    /// What the window has opened, if that is documents; else nullptr.
    [[nodiscard]] static DocumentContent* of(const MainWindow& window);

    DocumentContent(const ContentContext& context, const QString& path, bool force);
    ~DocumentContent() override;

    /// From left to right, without one that is still being prepared.
    [[nodiscard]] const std::vector<DocumentPane*>& panes() const { return m_panes; }
    [[nodiscard]] DocumentPane* pending() const { return m_pending; } ///< is being prepared; or nullptr
    [[nodiscard]] DocumentPane& active() const { return *m_active; } ///< once it is prepared
    void setActive(DocumentPane& pane);
    /// Says what came of something: `done`, or why it failed.
    void report(const model::Result<void>& result, const QString& done);

    [[nodiscard]] QString title() const override;
    void setPalette(const Palette& palette) override;
    [[nodiscard]] QWidget* topPart() override;
    [[nodiscard]] QWidget* statusPart() override;
    [[nodiscard]] QString statusText() const override;
    [[nodiscard]] QList<QAction*> pageActions() const override;
    [[nodiscard]] QList<Actions::Section> sections() const override;
    [[nodiscard]] QStringList places() const override;
    void goToPlace(int index) override;
    [[nodiscard]] bool canCopy() const override { return true; }
    [[nodiscard]] QString copyText() const override;
    [[nodiscard]] QString commandLine() const override;
    void enter(const QString& behind) override;
    void takeKeyboard() override;
    void closing() override;
    [[nodiscard]] bool openBeside(const QString& path) override;
    [[nodiscard]] bool preparing() const override { return m_panes.empty(); }
    [[nodiscard]] QWidget* makeProgress(Shape shape) override;

private:
    void load(const QString& path, bool force);
    void loadBeside(const QString& path, bool force);
    void adopt();
    void endPending();
    void closePane(DocumentPane& pane);
    void connectPane(DocumentPane& pane);
    void connectLive(DocumentPane& pane);
    void forget(DocumentPane& pane); // hears nothing of it any more
    void followFocus(QWidget* now);
    void arrange(); // headers, and which is the active one
    void announce(); // what is to be said of the documents as they are now
    void announceGrown();
    [[nodiscard]] QList<Notice> notices();
    void dropMissing(const QString& place); // from the list of recent files
    void showKept(const QString& file);
    void openFrame(const QString& file, qint64 line);
    [[nodiscard]] Document& document() const { return m_active->document(); }
    [[nodiscard]] DocumentView& view() const { return m_active->view(); }
    [[nodiscard]] ViewState& state() const { return document().viewState(); }
    [[nodiscard]] std::shared_ptr<const DeviceData> device() const { return document().device(); }
    [[nodiscard]] Page& page() const;

    ContentContext m_context;
    Palette m_palette = Palette::light();
    QVBoxLayout* m_column;
    QSplitter* m_splitter;
    Finder* m_finder;
    QPointer<DocumentBar> m_bar; // of the window's bar while this is shown
    QPointer<DocumentStatus> m_status;
    std::unique_ptr<DocumentActions> m_does;
    std::vector<DocumentPane*> m_panes;
    DocumentPane* m_active = nullptr;
    DocumentPane* m_pending = nullptr;
    QWidget* m_progress = nullptr; // of m_pending, beside others
    QStringList m_announced; // what the notices say
};

} // namespace strata::views
