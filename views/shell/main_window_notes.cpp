// SPDX-License-Identifier: GPL-3.0-or-later
// Edit > Add a Note, Name This Range, Save This Filter.
#include "views/shell/main_window.h"

#include "model/session/filter_text.h"
#include "model/session/user_file.h"
#include "views/pages/filter_text.h"
#include "views/pages/texts.h"
#include "views/shell/actions.h"
#include "views/shell/details_panel.h"
#include "views/shell/document_view.h"
#include "views/shell/note_dialog.h"
#include "views/shell/status_bar.h"

#include <QDateTime>
#include <QDir>
#include <QFileInfo>
#include <QPointer>

namespace strata::views {

namespace {

model::UserItem newItem(model::UserItem::Kind kind, int device)
{
    model::UserItem item;
    item.kind = kind;
    item.key = model::newUserKey();
    item.changedNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    item.device = device;
    return item;
}

/// The thing that was clicked last, if a note can be about it: where it begins.
struct Clicked {
    model::EventIndex event;
    std::uint64_t address = 0;
};

std::optional<Clicked> clickedThing(const DeviceData& device, const Focus& focus)
{
    if (focus.kind == Focus::Kind::Event)
        return Clicked{ focus.event };
    if (focus.kind == Focus::Kind::Block && focus.block.index() < device.trace->blocks().size())
        return Clicked{ device.trace->blocks().birth(focus.block),
            device.trace->blocks().address[focus.block.index()] };
    return std::nullopt;
}

/// Adds the item with the text that is entered, if the document is still there then.
std::function<void(const QString&)> adder(Document* document, model::UserItem item)
{
    return [item = std::move(item), document = QPointer(document)](const QString& text) {
        if (!document)
            return;
        model::UserData user = document->viewState().user();
        model::UserItem named = item;
        named.text = text.toStdString();
        user.set(std::move(named));
        document->viewState().setUser(std::move(user));
    };
}

} // namespace

void MainWindow::connectNotes()
{
    connect(m_actions->addNote, &QAction::triggered, this, &MainWindow::addNote);
    connect(m_actions->nameRange, &QAction::triggered, this, &MainWindow::nameRange);
    connect(m_actions->saveFilter, &QAction::triggered, this, &MainWindow::saveFilter);
}

void MainWindow::addNote()
{
    const auto now = device();
    const auto& selection = m_document->viewState().selection();
    model::UserItem item = newItem(model::UserItem::Kind::Note, now->trace->device());
    QString where;
    const std::optional<Clicked> clicked = clickedThing(*now, m_view->details().focusShown());
    if (clicked && clicked->address != 0) {
        item.first = item.last = clicked->event;
        item.address = clicked->address;
        where = tr("The note is on the block at %1, from %2.")
                    .arg(text::address(item.address), text::event(*now, item.first));
    } else if (clicked || (selection && selection->isInstant())) {
        item.first = item.last = clicked ? clicked->event : selection->first;
        where = tr("The note is on %1.").arg(text::event(*now, item.first));
    } else if (selection) {
        item.first = selection->first;
        item.last = selection->last;
        where = tr("The note is on events %1 to %2.").arg(text::count(item.first), text::count(item.last));
    } else {
        item.first = item.last = now->summary->peak.event;
        where = tr("Nothing is selected, so the note is on the peak, %1.").arg(text::event(*now, item.first));
    }
    askForText(*this, tr("Add a note"), where, {}, adder(m_document, std::move(item)));
}

void MainWindow::nameRange()
{
    const auto now = device();
    const EventRange range = *m_document->viewState().selection();
    model::UserItem item = newItem(model::UserItem::Kind::Range, now->trace->device());
    item.first = range.first;
    item.last = range.last;
    askForText(*this, tr("Name this range"),
        tr("A name for events %1 to %2, under which the range can be selected again.")
            .arg(text::count(range.first), text::count(range.last)),
        {}, adder(m_document, std::move(item)));
}

void MainWindow::saveFilter()
{
    const model::Recording& recording = m_document->session()->recording();
    const model::BlockFilter filter = m_document->viewState().filter();
    model::UserItem item = newItem(model::UserItem::Kind::Filter, m_document->viewState().device());
    item.conditions = model::filterText(recording, filter);
    QStringList chips;
    for (const FilterChip& chip : filterChips(filter, recording))
        chips.append(chip.text);
    const QString conditions = chips.join(QStringLiteral(", "));
    askForText(*this, tr("Save this filter"), tr("A name for the filter \"%1\".").arg(conditions), conditions,
        adder(m_document, std::move(item)));
}

void MainWindow::showKept(const QString& file)
{
    if (QFileInfo(file) == QFileInfo(m_document->path()))
        return m_status->flash(tr("kept in this file"));
    QString folder = QFileInfo(file).absolutePath();
    if (folder.startsWith(QDir::homePath() + QLatin1Char('/')))
        folder = QLatin1Char('~') + folder.mid(QDir::homePath().size());
    m_status->flash(tr("kept in %1, since this file is not changed; strata convert makes a session that "
                       "holds its notes itself")
                        .arg(folder));
}

} // namespace strata::views
