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
#include <QScrollArea>
#include <QSettings>
#include <QVBoxLayout>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Dialogs)
};

QWidget* keyTable(const QString& title, const QList<std::pair<QString, QString>>& rows)
{
    auto* part = new QWidget;
    auto* grid = new QGridLayout(part);
    grid->setContentsMargins(0, 0, 0, kGrid);
    grid->setHorizontalSpacing(2 * kMargin);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnStretch(0, 1);
    grid->addWidget(headingLabel(title), 0, 0, 1, 2);
    int line = 1;
    for (const auto& [what, key] : rows) {
        grid->addWidget(new QLabel(what), line, 0);
        auto* keys = new QLabel(key);
        keys->setProperty("muted", true);
        grid->addWidget(keys, line++, 1, Qt::AlignRight);
    }
    return part;
}

QDialog* dialog(QWidget& parent, const QString& title)
{
    auto* made = new QDialog(&parent);
    made->setAttribute(Qt::WA_DeleteOnClose);
    made->setWindowTitle(title);
    auto* layout = new QVBoxLayout(made);
    layout->setContentsMargins(2 * kMargin, 2 * kMargin, 2 * kMargin, kMargin);
    layout->setSpacing(kMargin);
    return made;
}

void addClose(QDialog& dialog)
{
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    QObject::connect(buttons, &QDialogButtonBox::rejected, &dialog, &QDialog::reject);
    dialog.layout()->addWidget(buttons);
}

} // namespace

QList<std::pair<QString, QString>> shortcutRows(const QList<QAction*>& actions)
{
    QList<std::pair<QString, QString>> rows;
    for (const QAction* action : actions) {
        QStringList keys;
        for (const QKeySequence& key : action->shortcuts())
            keys.append(key.toString(QKeySequence::NativeText));
        if (!action->isVisible())
            continue;
        QString text = action->text();
        text.remove(QLatin1Char('&')).remove(QStringLiteral("…"));
        rows.append({ text, keys.isEmpty() ? Words::tr("menu") : keys.join(Words::tr(" or ")) });
    }
    return rows;
}

void showShortcuts(QWidget& parent, const QList<Actions::Section>& sections)
{
    QDialog* shown = dialog(parent, Words::tr("Keyboard and Mouse"));
    auto* content = new QWidget;
    auto* columns = new QHBoxLayout(content);
    columns->setContentsMargins(0, 0, kMargin, 0);
    columns->setSpacing(4 * kMargin);
    QVBoxLayout* column[2];
    int length[2] = { 0, 0 };
    for (QVBoxLayout*& made : column)
        columns->addLayout(made = new QVBoxLayout, 1);
    const auto place = [&](const QString& title, const QList<std::pair<QString, QString>>& rows) {
        if (rows.isEmpty())
            return;
        const int shorter = length[0] <= length[1] ? 0 : 1;
        column[shorter]->addWidget(keyTable(title, rows));
        length[shorter] += static_cast<int>(rows.size()) + 2;
    };
    for (const Actions::Section& section : sections)
        place(section.title, shortcutRows(section.actions));
    place(Words::tr("Mouse, in pictures"),
        { { Words::tr("Zoom at the cursor"), Words::tr("Wheel") },
            { Words::tr("Pan"), Words::tr("Shift+Wheel, middle drag, Space+drag") },
            { Words::tr("Select a range"), Words::tr("Drag") },
            { Words::tr("Show in the details"), Words::tr("Click") },
            { Words::tr("Zoom to the thing"), Words::tr("Double click") } });
    for (QVBoxLayout* made : column)
        made->addStretch();
    auto* scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setWidget(content);
    shown->layout()->addWidget(scroll);
    addClose(*shown);
    const double scale = scaleOf(shown->font());
    shown->resize(qRound(800 * scale), qRound(600 * scale));
    shown->show();
}

void showAbout(QWidget& parent)
{
    QDialog* shown = dialog(parent, Words::tr("About Strata"));
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
    addClose(*shown);
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
