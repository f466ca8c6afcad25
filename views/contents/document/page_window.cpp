// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/page_window.h"

#include "views/contents/document/filter_note.h"
#include "views/pages/parts/page.h"
#include "views/shell/local_files.h"

#include <QCloseEvent>
#include <QMimeData>
#include <QVBoxLayout>

namespace strata::views {

PageWindow::PageWindow(Page& page, const QString& fileName, QWidget* parent)
    : QWidget(parent, Qt::Window)
    , m_filterNote(new FilterNote(page.document()))
{
    setAcceptDrops(true);
    setWindowTitle(tr("%1 - %2").arg(page.title(), fileName));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(m_filterNote);
    layout->addWidget(&page, 1);
    m_filterNote->setPage(&page);
    resize(page.size().expandedTo(QSize(800, 500)));
}

void PageWindow::setPalette(const Palette& palette)
{
    m_filterNote->setPalette(palette);
}

void PageWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (!localFiles(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void PageWindow::dropEvent(QDropEvent* event)
{
    event->acceptProposedAction();
    Q_EMIT filesDropped(*event->mimeData());
}

void PageWindow::closeEvent(QCloseEvent* event)
{
    Q_EMIT closed();
    event->accept();
}

bool PageWindow::event(QEvent* event)
{
    if (event->type() == QEvent::WindowActivate)
        Q_EMIT activated();
    return QWidget::event(event);
}

} // namespace strata::views
