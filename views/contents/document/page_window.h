// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QMimeData;

namespace strata::views {

class FilterNote;
class Page;
class Palette;

/// A window of its own for a page that was torn off; closing it gives the page back.
class PageWindow : public QWidget {
    Q_OBJECT
public:
    PageWindow(Page& page, const QString& fileName, QWidget* parent);

    void setPalette(const Palette& palette);

Q_SIGNALS:
    void filesDropped(const QMimeData& files);
    void closed();
    void activated();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void closeEvent(QCloseEvent* event) override;
    bool event(QEvent* event) override;

private:
    FilterNote* m_filterNote;
};

} // namespace strata::views
