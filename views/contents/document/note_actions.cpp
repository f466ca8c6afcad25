// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/note_actions.h"

#include "model/session/filter_text.h"
#include "model/session/user_file.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/filter_text.h"
#include "views/style/type.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>

#include <functional>
#include <utility>

namespace strata::views {

namespace {

class NoteActions {
    Q_DECLARE_TR_FUNCTIONS(strata::views::DocumentContent)
};

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
    if (focus.kind == Focus::Kind::Block && device.trace->blocks().contains(focus.block))
        return Clicked{ device.trace->blocks().birth(focus.block),
            device.trace->blocks().address[focus.block] };
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

/// Asks for one line of text. Window-modal; returns at once. `about` says in a sentence what the text is for.
/// Calls `done` with what was entered, without spaces around it, unless it is empty or was cancelled.
void askForText(QWidget& parent, const QString& title, const QString& about, const QString& initial,
    std::function<void(const QString&)> done)
{
    auto* dialog = new QDialog(&parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("note"));
    dialog->setWindowTitle(title);
    auto* layout = new QVBoxLayout(dialog);
    layout->setContentsMargins(2 * kGrid, 2 * kGrid, 2 * kGrid, 2 * kGrid);
    layout->setSpacing(kMargin);
    auto* label = new QLabel(about);
    label->setWordWrap(true);
    auto* edit = new QLineEdit(initial);
    edit->setAccessibleName(title);
    edit->setMinimumWidth(scaled(420.0, parent.font()));
    edit->setMaxLength(4000);
    edit->selectAll();
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Cancel);
    QPushButton* const save = buttons->button(QDialogButtonBox::Save);
    save->setDefault(true);
    save->setEnabled(!initial.trimmed().isEmpty());
    layout->addWidget(label);
    layout->addWidget(edit);
    layout->addWidget(buttons);
    QObject::connect(edit, &QLineEdit::textChanged, save,
        [save](const QString& text) { save->setEnabled(!text.trimmed().isEmpty()); });
    QObject::connect(buttons, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
    QObject::connect(dialog, &QDialog::accepted, &parent, [edit, done = std::move(done)] {
        if (const QString text = edit->text().trimmed(); !text.isEmpty())
            done(text);
    });
    dialog->open();
    edit->setFocus();
}

} // namespace

void addNote(QWidget& window, Document& document, const Focus& focus)
{
    const auto now = document.device();
    const auto& selection = document.viewState().selection();
    model::UserItem item = newItem(model::UserItem::Kind::Note, now->trace->device());
    QString where;
    const std::optional<Clicked> clicked = clickedThing(*now, focus);
    if (clicked && clicked->address != 0) {
        item.first = item.last = clicked->event;
        item.address = clicked->address;
        where = NoteActions::tr("The note is on the block at %1, from %2.")
                    .arg(text::address(item.address), text::instant(*now, item.first));
    } else if (clicked || (selection && selection->isInstant())) {
        item.first = item.last = clicked ? clicked->event : selection->first;
        where = NoteActions::tr("The note is on %1.").arg(text::instant(*now, item.first));
    } else if (selection) {
        item.first = selection->first;
        item.last = selection->last;
        where = NoteActions::tr("The note is on events %1 to %2.")
                    .arg(text::count(item.first), text::count(item.last));
    } else {
        item.first = item.last = now->summary->peak.event;
        where = NoteActions::tr("Nothing is selected, so the note is on the peak, %1.")
                    .arg(text::instant(*now, item.first));
    }
    askForText(window, NoteActions::tr("Add a note"), where, {}, adder(&document, std::move(item)));
}

void nameRange(QWidget& window, Document& document)
{
    const auto now = document.device();
    const EventRange range = *document.viewState().selection();
    model::UserItem item = newItem(model::UserItem::Kind::Range, now->trace->device());
    item.first = range.first;
    item.last = range.last;
    askForText(window, NoteActions::tr("Name this range"),
        NoteActions::tr("A name for events %1 to %2, under which the range can be selected again.")
            .arg(text::count(range.first), text::count(range.last)),
        {}, adder(&document, std::move(item)));
}

void saveFilter(QWidget& window, Document& document)
{
    const model::Recording& recording = document.session()->recording();
    const model::BlockFilter filter = document.viewState().filter();
    model::UserItem item = newItem(model::UserItem::Kind::Filter, document.viewState().device());
    item.conditions = model::filterText(recording, filter);
    QStringList chips;
    for (const FilterChip& chip : filterChips(filter, recording))
        chips.append(chip.text);
    const QString conditions = chips.join(QStringLiteral(", "));
    askForText(window, NoteActions::tr("Save this filter"),
        NoteActions::tr("A name for the filter \"%1\".").arg(conditions), conditions,
        adder(&document, std::move(item)));
}

} // namespace strata::views
