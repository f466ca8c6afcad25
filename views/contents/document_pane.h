// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/models/document.h"
#include "views/style/palette.h"

#include <memory>

class QLabel;
class QToolButton;

namespace strata::views {

class DocumentView;

/// One document of a window with the view that shows it, from the moment it is asked for: loads the file and
/// makes the pages meanwhile, one at a time, since all at once would hold up the window. It is prepared once
/// its pages are there and its file, or the outline of that, too. Beside others it has a header that names
/// it. Owns the document and the view. GUI thread only.
class DocumentPane : public QWidget {
    Q_OBJECT
public:
    /// `colours` is that of the window.
    DocumentPane(
        const QString& path, bool force, std::shared_ptr<ColourTable> colours, QWidget* parent = nullptr);
    ~DocumentPane() override;

    [[nodiscard]] Document& document() const { return *m_document; }
    [[nodiscard]] DocumentView& view() const { return *m_view; }
    [[nodiscard]] bool isPrepared() const { return m_prepared; }
    [[nodiscard]] QString fileName() const;
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

protected:
    void mousePressEvent(QMouseEvent* event) override;

private:
    void prepare();
    void follow();
    [[nodiscard]] QWidget* makeHeader();

    std::unique_ptr<Document> m_document;
    DocumentView* m_view; // goes before the document that it refers to
    bool m_prepared = false;
    QLabel* m_name = nullptr;
    QToolButton* m_close = nullptr;
    QWidget* m_header;
};

} // namespace strata::views
