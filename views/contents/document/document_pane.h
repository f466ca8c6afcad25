// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document/document.h"
#include "views/style/palette.h"

#include <memory>

class QLabel;
class QToolButton;

namespace strata::views {

class DocumentView;
class LiveBar;
class LiveSource;

/// One document of a window with the view that shows it, from the moment it is asked for: loads the file and
/// makes the pages meanwhile, one at a time, since all at once would hold up the window. It is prepared once
/// its pages are there and its file, or the outline of that, too. A process that is watched (LivePlace) has a
/// bar below it all that says how it stands. Beside others it has a header that names it. Owns the document
/// and the view. GUI thread only.
class DocumentPane : public QWidget {
    Q_OBJECT
public:
    /// `place`: a file, or a process as LivePlace names it; `colours` is that of the window.
    /// `mostEvents`: LiveSource.
    DocumentPane(const QString& place, bool force, std::shared_ptr<ColourTable> colours,
        std::int64_t mostEvents, QWidget* parent = nullptr);
    ~DocumentPane() override;

    [[nodiscard]] Document& document() const { return *m_document; }
    [[nodiscard]] DocumentView& view() const { return *m_view; }
    [[nodiscard]] bool isPrepared() const { return m_prepared; }
    [[nodiscard]] const QString& place() const { return m_place; }
    [[nodiscard]] QString name() const; ///< of the file without its folder, or of the process
    [[nodiscard]] static bool isLive(const QString& place); ///< LivePlace
    void setFollowing(bool follows); ///< of what is watched; nothing for a file
    [[nodiscard]] LiveSource* live() const { return m_live; } ///< nullptr: it is a file
    [[nodiscard]] LiveBar* liveBar() const { return m_liveBar; } ///< likewise
    void cancel();

    void setPalette(const Palette& palette);
    /// Beside others it has its header, and a rail of icons alone.
    void setBesideOthers(bool beside);
    void setActive(bool active); ///< the one of several that the bars of the window speak of

Q_SIGNALS:
    void prepared();
    void failed(); ///< before it was prepared: document().error()
    void cancelled(); ///< before it was prepared
    void chosen(); ///< by a click on its header
    void closeWanted();
    void renamed(); ///< name() says something else now
    void saveWanted(); ///< of what is watched

protected:
    void mousePressEvent(QMouseEvent* event) override;

private:
    void prepare();
    void follow();
    void watch(std::int64_t mostEvents);
    void showName();
    [[nodiscard]] QWidget* makeHeader();

    const QString m_place;
    std::unique_ptr<Document> m_document;
    LiveSource* m_live = nullptr; // goes before the document that it tells
    LiveBar* m_liveBar = nullptr;
    DocumentView* m_view; // goes before the document that it refers to
    bool m_prepared = false;
    QLabel* m_name = nullptr;
    QToolButton* m_close = nullptr;
    QWidget* m_header;
};

} // namespace strata::views
