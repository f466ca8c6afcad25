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
#include <QSpinBox>
#include <QVBoxLayout>

namespace strata::views {

namespace {

struct DialogWords {
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
    QDialog* shown = makeDialog(parent, DialogWords::tr("About Strata"));
    auto* mark = new QLabel;
    mark->setPixmap(
        QIcon(QStringLiteral(":/strata/icons/strata.svg")).pixmap(QSize(64, 64), parent.devicePixelRatioF()));
    shown->layout()->addWidget(mark);
    auto* name = headingLabel(DialogWords::tr("Strata %1").arg(QStringLiteral(STRATA_VERSION)));
    name->setFont(sized(name->font(), kVerdictPx));
    shown->layout()->addWidget(name);
    auto* text = new QLabel(DialogWords::tr(
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
    preferences.setWindowTitle(DialogWords::tr("Preferences"));
    auto* layout = new QVBoxLayout(&preferences);
    layout->setContentsMargins(2 * kMargin, 2 * kMargin, 2 * kMargin, kMargin);
    layout->setSpacing(kMargin);
    auto* form = new QFormLayout;
    auto* editor = new QLineEdit(settings.value(QLatin1String(kEditorKey)).toString());
    editor->setPlaceholderText(defaultEditor());
    editor->setMinimumWidth(360);
    form->addRow(DialogWords::tr("Editor command"), editor);
    auto* hint = new QLabel(
        DialogWords::tr("Opens a frame of a stack; %f is the file, %l the line. Empty: the one shown."));
    hint->setProperty("muted", true);
    hint->setWordWrap(true);
    form->addRow({}, hint);
    auto* kept = new QSpinBox;
    kept->setRange(0, 1'000);
    kept->setSpecialValueText(DialogWords::tr("as memory allows"));
    kept->setSuffix(DialogWords::tr(" million"));
    kept->setValue(settings.value(QLatin1String(kLiveEventsKey)).toInt());
    form->addRow(DialogWords::tr("Events kept while watching"), kept);
    auto* keptHint = new QLabel(DialogWords::tr(
        "Of a process that runs for days the older half goes when there are more; its curves stay."));
    keptHint->setProperty("muted", true);
    keptHint->setWordWrap(true);
    form->addRow({}, keptHint);
    layout->addLayout(form);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
    QObject::connect(buttons, &QDialogButtonBox::accepted, &preferences, &QDialog::accept);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &preferences, &QDialog::reject);
    layout->addWidget(buttons);
    if (preferences.exec() != QDialog::Accepted)
        return;
    settings.setValue(QLatin1String(kEditorKey), editor->text().trimmed());
    settings.setValue(QLatin1String(kLiveEventsKey), kept->value());
}

} // namespace strata::views
