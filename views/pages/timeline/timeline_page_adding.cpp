// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_page.h"

#include "model/session/opener.h"
#include "views/pages/parts/document_texts.h"
#include "views/style/type.h"
#include "views/widgets/legend.h"

#include <QAction>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMimeData>
#include <QToolButton>

namespace strata::views {

namespace {

/// The one file that is dragged, unless it is a trace, which opens by itself; empty: none.
QString fileToAdd(const QMimeData& data)
{
    const QList<QUrl> urls = data.urls();
    if (urls.size() != 1 || !urls.front().isLocalFile())
        return {};
    const QString path = urls.front().toLocalFile();
    if (!QFileInfo(path).isFile())
        return {};
    auto file = model::Opener::open(QFile::encodeName(path).toStdString());
    return file && file->isTrace() ? QString() : path;
}

} // namespace

QLayout* TimelinePage::makeAdding()
{
    m_add = addPageAction(tr("Add to This Timeline…"), { QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_A) },
        [this] { askWhatToAdd(); });
    m_add->setToolTip(tr("A snapshot or a session of the same run: its memory is drawn on this axis"));
    m_remove = addPageAction(
        tr("Remove What Was Added"), { Qt::CTRL | Qt::SHIFT | Qt::Key_D }, [this] { m_adder.remove(); });
    auto* button = new QToolButton;
    m_add->setIconVisibleInMenu(false);
    button->setDefaultAction(m_add);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setFont(sized(font(), kAxisPx));
    button->setFocusPolicy(Qt::TabFocus);
    setAcceptDrops(true);
    m_find->setAcceptDrops(false);
    connect(&m_adder, &MemoryAdder::changed, this, &TimelinePage::showAdding);
    connect(&m_adder, &MemoryAdder::addedChanged, this, [this] {
        if (m_lanes->data())
            makeLanes();
    });
    auto* row = new QHBoxLayout;
    row->setSpacing(kGrid);
    row->addWidget(m_legend, 1);
    row->addWidget(button, 0, Qt::AlignTop);
    return row;
}

bool TimelinePage::canAdd() const
{
    return m_lanes->data() && !m_document.isFollowing();
}

void TimelinePage::showAdding()
{
    m_add->setEnabled(canAdd());
    m_remove->setEnabled(m_adder.added() != nullptr);
}

void TimelinePage::askWhatToAdd()
{
    const QString path = QFileDialog::getOpenFileName(this, tr("Add to This Timeline"),
        QFileInfo(m_document.path()).absolutePath(),
        tr("Snapshots and sessions (*.pickle *.pkl *.strata *.json *.gz *.html);;All files (*)"));
    if (!path.isEmpty() && canAdd())
        m_adder.add(path);
}

void TimelinePage::dragEnterEvent(QDragEnterEvent* event)
{
    if (canAdd() && !fileToAdd(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
    else
        event->ignore(); // the window opens it
}

void TimelinePage::dropEvent(QDropEvent* event)
{
    const QString path = fileToAdd(*event->mimeData());
    if (!canAdd() || path.isEmpty())
        return event->ignore();
    event->acceptProposedAction();
    m_adder.add(path);
}

} // namespace strata::views
