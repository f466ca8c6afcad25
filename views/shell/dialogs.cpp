// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/dialogs.h"

#include "views/shell/editor.h"
#include "views/style/labels.h"
#include "views/style/type.h"

#include <QDialog>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSettings>
#include <QVBoxLayout>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Dialogs)
};

} // namespace

QDialog* makeDialog(QWidget& parent, const QString& title)
{
    auto* made = new QDialog(&parent);
    made->setAttribute(Qt::WA_DeleteOnClose);
    made->setWindowTitle(title);
    auto* layout = new QVBoxLayout(made);
    layout->setContentsMargins(2 * kMargin, 2 * kMargin, 2 * kMargin, kMargin);
    layout->setSpacing(kMargin);
    return made;
}

void addCloseButton(QDialog& dialog)
{
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    dialog.layout()->addWidget(buttons);
}

void showAbout(QWidget& parent)
{
    QDialog* shown = makeDialog(parent, Words::tr("About Strata"));
    auto* mark = new QLabel;
    mark->setPixmap(
        QIcon(QStringLiteral(":/strata/icons/strata.svg")).pixmap(QSize(64, 64), parent.devicePixelRatioF()));
    shown->layout()->addWidget(mark);
    auto* name = headingLabel(Words::tr("Strata %1").arg(QStringLiteral(STRATA_VERSION)));
    name->setFont(sized(name->font(), kVerdictPx));
    shown->layout()->addWidget(name);
    auto* text = new QLabel(Words::tr(
        "Shows where GPU memory goes in PyTorch and LibTorch programs, and what would change it.\n\n"
        "Free software under the GNU General Public License, version 3 or later.\n"
        "Built with Qt %1.")
                                .arg(QLatin1String(qVersion())));
    text->setWordWrap(true);
    text->setMinimumWidth(400);
    shown->layout()->addWidget(text);
    addCloseButton(*shown);
    shown->show();
}

void editPreferences(QWidget& parent, QSettings& settings)
{
    QDialog preferences(&parent);
    preferences.setWindowTitle(Words::tr("Preferences"));
    auto* layout = new QVBoxLayout(&preferences);
    layout->setContentsMargins(2 * kMargin, 2 * kMargin, 2 * kMargin, kMargin);
    layout->setSpacing(kMargin);
    auto* form = new QFormLayout;
    auto* editor = new QLineEdit(settings.value(QLatin1String(kEditorKey)).toString());
    editor->setPlaceholderText(defaultEditor());
    editor->setMinimumWidth(360);
    form->addRow(Words::tr("Editor command"), editor);
    auto* hint = new QLabel(
        Words::tr("Opens a frame of a stack; %f is the file, %l the line. Empty: the one shown."));
    hint->setProperty("muted", true);
    hint->setWordWrap(true);
    form->addRow({}, hint);
    layout->addLayout(form);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    QObject::connect(buttons, &QDialogButtonBox::accepted, &preferences, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &preferences, &QDialog::reject);
    layout->addWidget(buttons);
    if (preferences.exec() == QDialog::Accepted)
        settings.setValue(QLatin1String(kEditorKey), editor->text().trimmed());
}

} // namespace strata::views
