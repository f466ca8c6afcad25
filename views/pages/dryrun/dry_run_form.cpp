// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/dryrun/dry_run_form.h"

#include "model/base/units.h"
#include "model/cards/catalogue.h"
#include "views/models/programs/shell_words.h"
#include "views/pages/dryrun/dry_run_texts.h"
#include "views/style/icons.h"
#include "views/style/texts.h"
#include "views/style/type.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

#include <limits>

namespace strata::views {

namespace {

constexpr int kFormLabelWidth = 104;
constexpr int kCommandLines = 3;
constexpr int kMostRanks = 4096; // as the command line takes them
constexpr int kMostFormDevices = 64;
constexpr int kRecentText = 60;

QGridLayout* formGrid(double scale)
{
    auto* grid = new QGridLayout;
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid);
    grid->setColumnMinimumWidth(0, qRound(kFormLabelWidth * scale));
    grid->setColumnStretch(1, 1);
    return grid;
}

QLabel* fieldLabel(const QString& text, QWidget& field)
{
    auto* label = new QLabel(text);
    label->setBuddy(&field);
    field.setAccessibleName(text);
    return label;
}

void addRow(QGridLayout& grid, const QString& text, QWidget& field, QWidget* besides = nullptr)
{
    const int row = grid.rowCount();
    grid.addWidget(fieldLabel(text, field), row, 0);
    grid.addWidget(&field, row, 1, 1, besides ? 1 : 2);
    if (besides)
        grid.addWidget(besides, row, 2);
}

QSpinBox* number(int lowest, int highest)
{
    auto* box = new QSpinBox;
    box->setRange(lowest, highest);
    box->setButtonSymbols(QAbstractSpinBox::NoButtons); // the arrow keys and the wheel do it
    return box;
}

} // namespace

DryRunForm::DryRunForm(RecentDryRuns& recent, QWidget* parent)
    : QWidget(parent)
    , m_recent(recent)
    , m_command(new QPlainTextEdit)
    , m_note(new QLabel)
    , m_recentButton(new QPushButton(tr("Recent")))
    , m_recentMenu(new QMenu(this))
    , m_folder(new QLineEdit)
    , m_device(new QComboBox)
    , m_capacity(new QLineEdit)
    , m_steps(number(0, std::numeric_limits<int>::max() / 2))
    , m_further(new QPushButton(tr("Further options")))
    , m_furtherPart(new QWidget)
    , m_replaceSettings(new QCheckBox(tr("Allocator")))
    , m_settings(new QLineEdit)
    , m_asRank(new QCheckBox(tr("As rank")))
    , m_rank(number(0, kMostRanks - 1))
    , m_worldSize(number(1, kMostRanks))
    , m_devices(number(1, kMostFormDevices))
    , m_initialise(new QCheckBox(tr("Initialise weights on the CPU, too")))
    , m_time(new QCheckBox(tr("Estimate the least time of a step")))
    , m_onEachCard(new QCheckBox(tr("Run on each card too")))
    , m_change(new QLineEdit)
    , m_fit(new QLineEdit)
    , m_output(new QLineEdit)
    , m_run(new QPushButton)
    , m_copy(new QPushButton(tr("Copy as Command Line")))
{
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(kMargin);
    const double scale = scaleOf(font());
    auto* grid = formGrid(scale);
    makeCommand(*grid);
    makeDevice(*grid);
    column->addLayout(grid);
    makeFurther();
    column->addWidget(m_further, 0, Qt::AlignLeft);
    column->addWidget(m_furtherPart);
    column->addWidget(makeButtons());
    connect(&m_recent, &RecentDryRuns::changed, this, &DryRunForm::fillRecent);
    fillRecent();
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Maximum);
    showFurther(false);
    setRequest({});
    setRunning(false);
}

void DryRunForm::makeCommand(QGridLayout& grid)
{
    auto* title = new QHBoxLayout;
    title->setSpacing(kGrid);
    title->addWidget(fieldLabel(tr("Command"), *m_command), 1);
    m_recentButton->setProperty("link", true);
    m_recentButton->setCursor(Qt::PointingHandCursor);
    m_recentButton->setToolTip(tr("Commands that were run before: choosing one fills the form"));
    connect(m_recentButton, &QPushButton::clicked, this,
        [this] { m_recentMenu->popup(m_recentButton->mapToGlobal(QPoint(0, m_recentButton->height()))); });
    m_recentMenu->setToolTipsVisible(true);
    title->addWidget(m_recentButton);
    grid.addLayout(title, 0, 0, 1, 3);

    m_command->setFont(codeFont(font()));
    m_command->setPlaceholderText(QStringLiteral("~/venv/bin/python train.py --batch-size 8"));
    m_command->setTabChangesFocus(true);
    m_command->setToolTip(tr("What you would type into a terminal; quotes as there. Return runs it."));
    const int line = m_command->fontMetrics().lineSpacing();
    m_command->setFixedHeight(kCommandLines * line + 2 * kGrid + 2);
    m_command->installEventFilter(this);
    connect(m_command, &QPlainTextEdit::textChanged, this, &DryRunForm::edited);
    grid.addWidget(m_command, 1, 0, 1, 3);
    m_note->setWordWrap(true);
    m_note->setProperty("muted", true);
    m_note->setFont(sized(font(), kAxisPx));
    grid.addWidget(m_note, 2, 0, 1, 3);

    auto* choose = new QPushButton(tr("Choose…"));
    choose->setProperty("beside", true);
    choose->setAccessibleName(tr("Choose the folder"));
    connect(choose, &QPushButton::clicked, this, &DryRunForm::chooseFolder);
    m_folder->setPlaceholderText(QStringLiteral("~"));
    m_folder->setToolTip(tr("Where the command runs"));
    addRow(grid, tr("Folder"), *m_folder, choose);
}

void DryRunForm::makeDevice(QGridLayout& grid)
{
    for (const model::Card& card : model::cards()) {
        const QString name = QString::fromStdString(card.name);
        m_device->addItem(tr("%1, %2").arg(name, text::bytes(card.capacityBytes)), name);
        m_device->setItemData(m_device->count() - 1,
            tr("%1, %2\n%3")
                .arg(QString::fromStdString(card.product), text::exactBytes(card.capacityBytes),
                    QString::fromStdString(card.capacitySource)),
            Qt::ToolTipRole);
    }
    m_device->setMaxVisibleItems(m_device->count());
    m_device->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_device->setMinimumContentsLength(16);
    addRow(grid, tr("Device"), *m_device);
    connect(m_device, &QComboBox::currentIndexChanged, this, [this] {
        const model::Card* card = model::findCard(m_device->currentData().toString().toStdString());
        m_capacity->setPlaceholderText(
            card ? tr("%1, the card's own").arg(text::bytes(card->capacityBytes)) : QString());
        edited();
    });
    m_capacity->setToolTip(tr("Another size of the device's memory, such as 16GiB; empty: the card's own"));
    addRow(grid, tr("Capacity"), *m_capacity);
    m_steps->setSpecialValueText(tr("until the program ends"));
    m_steps->setToolTip(tr("Stop just before the next optimizer step; 0: when the program ends"));
    addRow(grid, tr("Steps"), *m_steps);
    m_time->setToolTip(
        tr("How long a step takes at least on each card, by what its operators compute and move; "
           "not while the largest value that fits is looked for"));
    for (QCheckBox* box : { m_time, m_onEachCard }) {
        grid.addWidget(box, grid.rowCount(), 0, 1, 3);
        connect(box, &QCheckBox::toggled, this, &DryRunForm::edited);
    }
    connect(m_steps, &QSpinBox::valueChanged, this, &DryRunForm::edited);
    for (QLineEdit* field : { m_folder, m_capacity }) {
        connect(field, &QLineEdit::textChanged, this, &DryRunForm::edited);
        connect(field, &QLineEdit::returnPressed, this, &DryRunForm::runRequested);
    }
}

void DryRunForm::makeFurther()
{
    m_further->setCheckable(true);
    m_further->setProperty("fold", true); // as the style sheet knows it
    connect(m_further, &QPushButton::toggled, this, &DryRunForm::showFurther);

    auto* grid = formGrid(scaleOf(font()));
    m_furtherPart->setLayout(grid);
    const auto addChecked = [&](QCheckBox& box, QWidget& field) {
        const int row = grid->rowCount();
        grid->addWidget(&box, row, 0);
        grid->addWidget(&field, row, 1, 1, 2);
        connect(&box, &QCheckBox::toggled, this, [this, field = &field](bool on) {
            field->setEnabled(on);
            edited();
        });
        field.setEnabled(false);
    };
    m_settings->setAccessibleName(tr("Allocator settings"));
    m_settings->setPlaceholderText(tr("none"));
    m_replaceSettings->setAccessibleName(tr("Replace the allocator settings of the environment"));
    for (QWidget* part : { static_cast<QWidget*>(m_settings), static_cast<QWidget*>(m_replaceSettings) })
        part->setToolTip(tr("Replaces PYTORCH_CUDA_ALLOC_CONF and PYTORCH_ALLOC_CONF, such as by "
                            "expandable_segments:True; empty removes them. Not checked: as in the "
                            "environment."));
    addChecked(*m_replaceSettings, *m_settings);

    auto* ranks = new QWidget;
    auto* row = new QHBoxLayout(ranks);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kGrid);
    m_rank->setAccessibleName(tr("Rank"));
    m_worldSize->setAccessibleName(tr("Number of ranks"));
    m_asRank->setAccessibleName(tr("Run as one rank of many"));
    m_asRank->setToolTip(
        tr("One rank of many runs, alone on this machine; the others are taken to do the same"));
    row->addWidget(m_rank, 1);
    row->addWidget(new QLabel(tr("of")));
    row->addWidget(m_worldSize, 1);
    connect(m_worldSize, &QSpinBox::valueChanged, this, [this](int size) { m_rank->setMaximum(size - 1); });
    addChecked(*m_asRank, *ranks);

    m_devices->setToolTip(tr("How many such cards the program sees"));
    addRow(*grid, tr("Devices"), *m_devices);
    m_change->setPlaceholderText(QStringLiteral("amp=bf16 checkpoint=Block"));
    m_change->setToolTip(
        tr("Runs the program once more with changes made to it from outside, beside the run as it is: "
           "amp=bf16, checkpoint=MODULE_CLASS, optimizer=NAME[,KEY=VALUE]"));
    addRow(*grid, tr("Changes"), *m_change);
    m_fit->setPlaceholderText(QStringLiteral("BATCH=1..512"));
    m_fit->setToolTip(tr("Finds the largest value that fits: tries it for {BATCH} in the command"));
    addRow(*grid, tr("Find largest"), *m_fit);
    auto* choose = new QPushButton(tr("Choose…"));
    choose->setProperty("beside", true);
    choose->setAccessibleName(tr("Choose where the recording is kept"));
    connect(choose, &QPushButton::clicked, this, &DryRunForm::chooseOutput);
    m_output->setPlaceholderText(tr("Strata's own"));
    m_output->setToolTip(
        tr("Where the recording of the run is kept; empty: among Strata's own, of which the last ten stay"));
    addRow(*grid, tr("Recording"), *m_output, choose);
    m_initialise->setToolTip(
        tr("Without this, torch.nn.init does nothing on the CPU: values do not matter here, and a "
           "large model costs neither time nor memory"));
    grid->addWidget(m_initialise, grid->rowCount(), 0, 1, 3);
    connect(m_initialise, &QCheckBox::toggled, this, &DryRunForm::edited);
    for (QSpinBox* box : { m_rank, m_worldSize, m_devices })
        connect(box, &QSpinBox::valueChanged, this, &DryRunForm::edited);
    for (QLineEdit* field : { m_settings, m_change, m_fit, m_output }) {
        connect(field, &QLineEdit::textChanged, this, &DryRunForm::edited);
        connect(field, &QLineEdit::returnPressed, this, &DryRunForm::runRequested);
    }
}

QWidget* DryRunForm::makeButtons()
{
    auto* buttons = new QWidget;
    auto* row = new QHBoxLayout(buttons);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(kMargin);
    m_copy->setProperty("link", true);
    m_copy->setCursor(Qt::PointingHandCursor);
    m_copy->setToolTip(tr("Copies the command for a terminal that does the same (Ctrl+Alt+L)"));
    connect(m_run, &QPushButton::clicked, this, [this] {
        if (m_running)
            Q_EMIT cancelRequested();
        else
            Q_EMIT runRequested();
    });
    connect(m_copy, &QPushButton::clicked, this, &DryRunForm::copyRequested);
    row->addWidget(m_run);
    row->addStretch();
    row->addWidget(m_copy);
    return buttons;
}

DryRunRequest DryRunForm::request() const
{
    DryRunRequest out;
    out.command = m_command->toPlainText().trimmed();
    out.folder = m_folder->text().trimmed();
    out.device = m_device->currentData().toString();
    out.capacity = m_capacity->text().trimmed();
    out.steps = m_steps->value();
    if (m_replaceSettings->isChecked())
        out.allocatorSettings = m_settings->text().trimmed();
    if (m_asRank->isChecked())
        out.rank = m_rank->value();
    out.worldSize = m_worldSize->value();
    out.devices = m_devices->value();
    out.skipInit = !m_initialise->isChecked();
    out.time = m_time->isChecked();
    out.onEachCard = m_onEachCard->isChecked();
    out.change = m_change->text().simplified();
    out.fit = m_fit->text().simplified();
    out.output = m_output->text().trimmed();
    return out;
}

void DryRunForm::setRequest(const DryRunRequest& request)
{
    m_filling = true;
    m_command->setPlainText(request.command);
    m_folder->setText(request.folder);
    const model::Card* card = model::findCard(request.device.toStdString());
    m_device->setCurrentIndex(card ? m_device->findData(QString::fromStdString(card->name)) : 0);
    m_capacity->setText(request.capacity);
    m_steps->setValue(request.steps);
    m_replaceSettings->setChecked(request.allocatorSettings.has_value());
    m_settings->setText(request.allocatorSettings.value_or(QString()));
    m_worldSize->setValue(request.worldSize);
    m_asRank->setChecked(request.rank.has_value());
    m_rank->setMaximum(request.worldSize - 1);
    m_rank->setValue(request.rank.value_or(0));
    m_devices->setValue(request.devices);
    m_initialise->setChecked(!request.skipInit);
    m_time->setChecked(request.time);
    m_onEachCard->setChecked(request.onEachCard);
    m_change->setText(request.change);
    m_fit->setText(request.fit);
    m_output->setText(request.output);
    m_filling = false;
    if (request.allocatorSettings || request.rank || request.devices != 1 || !request.skipInit
        || !request.change.isEmpty() || !request.fit.isEmpty() || !request.output.isEmpty())
        m_further->setChecked(true);
    edited();
}

void DryRunForm::setRunning(bool running)
{
    m_running = running;
    m_run->setText(running ? tr("Cancel") : tr("Run"));
    m_run->setToolTip(running ? tr("Ends the program and all that it started (Esc)")
                              : tr("Runs the command on the simulated device (Ctrl+Return)"));
    setPrimary(!running);
}

void DryRunForm::setPrimary(bool primary)
{
    m_run->setProperty("primary", primary);
    m_run->style()->unpolish(m_run);
    m_run->style()->polish(m_run);
}

void DryRunForm::setPalette(const Palette& palette)
{
    m_palette = palette;
    m_recentButton->setIcon(icon(QStringLiteral("down"), palette[Palette::Role::Accent]));
    showFurther(m_further->isChecked());
    showNote();
}

void DryRunForm::focusCommand()
{
    m_command->setFocus(Qt::OtherFocusReason);
    m_command->moveCursor(QTextCursor::End);
}

void DryRunForm::chooseFolder()
{
    const QString chosen
        = QFileDialog::getExistingDirectory(this, tr("Where the Command Runs"), request().workingFolder());
    if (!chosen.isEmpty())
        m_folder->setText(chosen);
}

void DryRunForm::chooseOutput()
{
    QString chosen = QFileDialog::getSaveFileName(this, tr("Keep the Recording"),
        m_output->text().isEmpty() ? request().workingFolder() : m_output->text(),
        tr("Sessions (*.strata);;PyTorch snapshots (*.pickle)"));
    if (chosen.isEmpty())
        return;
    if (QFileInfo(chosen).suffix().isEmpty())
        chosen += QStringLiteral(".strata");
    m_output->setText(chosen);
}

void DryRunForm::edited()
{
    if (m_filling)
        return;
    showNote();
    m_onEachCard->setToolTip(tr("%1 Only where the program fits on this device; not with Find largest.")
                                 .arg(eachCardCost(request())));
    m_copy->setEnabled(splitCommand(m_command->toPlainText()).runnable());
    Q_EMIT changed();
}

/// Says what would not be expected of the command or the capacity, before it is run.
void DryRunForm::showNote()
{
    const ShellCommand parts = splitCommand(m_command->toPlainText());
    const std::string capacity = m_capacity->text().trimmed().toStdString();
    QString note;
    if (parts.unclosedQuote)
        note = tr("A quote is not closed yet.");
    else if (!capacity.empty() && !model::parseBytes(capacity))
        note = tr("The capacity is no size yet: write it as 16GiB.");
    else if (!parts.shellSyntax.isEmpty())
        note = tr("%1 is for a shell: it runs through sh, with the PyTorch of the first python3 in PATH.")
                   .arg(parts.shellSyntax);
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
}

void DryRunForm::fillRecent()
{
    m_recentMenu->clear();
    for (const DryRunRequest& request : m_recent.all()) {
        QString text = text::shortened(request.command.simplified(), kRecentText, text::Keep::Beginning);
        text.replace(QLatin1Char('&'), QLatin1String("&&"));
        QAction* action
            = m_recentMenu->addAction(tr("%1  (%2)").arg(text, request.device), this, [this, request] {
                  setRequest(request);
                  focusCommand();
              });
        action->setToolTip(request.commandLine());
    }
    m_recentButton->setEnabled(!m_recentMenu->isEmpty());
    if (m_recentMenu->isEmpty())
        return;
    m_recentMenu->addSeparator();
    m_recentMenu->addAction(tr("Clear This List"), &m_recent, &RecentDryRuns::clear);
}

void DryRunForm::showFurther(bool shown)
{
    m_furtherPart->setVisible(shown);
    m_further->setIcon(
        icon(shown ? QStringLiteral("down") : QStringLiteral("forward"), m_palette[Palette::Role::Text]));
}

/// Return runs the command; with Shift it breaks the line.
bool DryRunForm::eventFilter(QObject* watched, QEvent* event)
{
    if (watched != m_command || event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const auto* key = static_cast<QKeyEvent*>(event);
    if ((key->key() != Qt::Key_Return && key->key() != Qt::Key_Enter)
        || (key->modifiers() & Qt::ShiftModifier))
        return false;
    Q_EMIT runRequested();
    return true;
}

} // namespace strata::views
