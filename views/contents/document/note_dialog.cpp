// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/note_dialog.h"

#include "views/style/type.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <utility>

namespace strata::views {

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

} // namespace strata::views
