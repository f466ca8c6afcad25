// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_confirm_panel.h"
#include "model/whatif/ask/change_kind.h"

#include "model/whatif/calls/calls_again.h"
#include "model/whatif/calls/python_changes.h"
#include "model/wire/info.h"
#include "views/models/programs/dry_run_job.h"
#include "views/pages/whatif/what_if_texts.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/flow_layout.h"
#include "views/widgets/segmented.h"

#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

QString recordedCommand(const WhatIf& whatIf)
{
    if (!whatIf.device())
        return {};
    const auto& facts = whatIf.device()->trace->recording().facts;
    const auto found = facts.find(wire::info::kCommand);
    return found == facts.end() ? QString() : text::utf8(found->second);
}

QGridLayout* fields(QWidget* page)
{
    auto* grid = new QGridLayout(page);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(kGrid);
    grid->setVerticalSpacing(kGrid / 2);
    grid->setColumnStretch(1, 1);
    return grid;
}

void addField(QGridLayout& grid, const QString& name, QLineEdit& edit)
{
    auto* label = new QLabel(name);
    label->setBuddy(&edit);
    edit.setAccessibleName(name);
    const int row = grid.rowCount();
    grid.addWidget(label, row, 0);
    grid.addWidget(&edit, row, 1);
}

/// Than was recorded.
bool isOfAnotherBatch(const WhatIfQuestion& question)
{
    const auto items = question.recordings.front().items;
    return model::anyDoes(question.scenario.changes, model::Does::Batch)
        && (!items || model::batchAfter(question.scenario.changes, *items).value_or(0) != *items);
}

bool isOfAnotherLength(const WhatIfQuestion& question)
{
    const auto length = question.recordings.front().length;
    return model::anyDoes(question.scenario.changes, model::Does::Sequence)
        && (!length || model::sequenceAfter(question.scenario.changes, *length).value_or(0) != *length);
}

/// The first recording of another batch has calls: with it they tell which of their sizes follow the batch.
bool hasOtherCalls(const WhatIfQuestion& question)
{
    const auto items = question.recordings.front().items;
    const auto other = std::ranges::find_if(question.recordings, [&](const WhatIfRecording& recording) {
        return items && recording.items && recording.items != items;
    });
    return other != question.recordings.end() && model::callListOf(*other->run.trace);
}

} // namespace

WhatIfConfirmPanel::WhatIfConfirmPanel(WhatIf& whatIf, QWidget* parent)
    : QWidget(parent)
    , m_whatIf(whatIf)
    , m_job(commandLineProgram())
    , m_way(new Segmented(tr("What is run"),
          { { tr("The program"), tr("Twice on a simulated device, as it was recorded and with the changes") },
              { tr("Its recorded calls"), tr("Those of the deep step, without the program") } }))
    , m_ways(new QStackedWidget)
    , m_command(new QLineEdit)
    , m_folder(new QLineEdit)
    , m_python(new QLineEdit)
    , m_line(textLabel(QString(), true))
    , m_state(textLabel(QString()))
    , m_run(new QPushButton(tr("Confirm…")))
    , m_question(new QWidget)
    , m_agree(new QPushButton(tr("Run It")))
{
    m_way->setProperty("many", true);
    m_command->setFont(codeFont(font()));
    m_command->setToolTip(tr("The command of the program; {BATCH} in it stands for the items of the batch, "
                             "{SEQUENCE} for the length of sequences"));
    m_folder->setToolTip(tr("Where it runs; empty: the home folder"));
    m_python->setPlaceholderText(QStringLiteral("python3"));
    m_python->setToolTip(tr("The Python whose PyTorch makes the calls, of the recorded minor version"));
    m_line->setFont(codeFont(font()));
    m_line->setAccessibleName(tr("The command that is run"));
    m_state->setTextFormat(Qt::RichText);
    m_agree->setProperty("primary", true);
    auto* program = new QWidget;
    QGridLayout* programFields = fields(program);
    addField(*programFields, tr("Command"), *m_command);
    addField(*programFields, tr("Folder"), *m_folder);
    auto* calls = new QWidget;
    QGridLayout* callFields = fields(calls);
    addField(*callFields, tr("Python"), *m_python);
    callFields->setRowStretch(callFields->rowCount(), 1);
    m_ways->addWidget(program);
    m_ways->addWidget(calls);
    m_ways->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    auto* asked = new QHBoxLayout(m_question);
    asked->setContentsMargins(0, 0, 0, 0);
    asked->setSpacing(kGrid);
    asked->addWidget(textLabel(tr("This runs the command above on this computer. It does what the program "
                                  "does, files that it writes included.")),
        1);
    auto* refuse = new QPushButton(tr("Not Now"));
    asked->addWidget(refuse);
    asked->addWidget(m_agree);
    m_question->setVisible(false);
    auto* head = new FlowLayout;
    head->setSpacings(kGrid, kGrid / 2);
    head->addWidget(m_way);
    head->addWidget(m_run);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid);
    layout->addLayout(head);
    layout->addWidget(m_ways);
    layout->addWidget(m_line);
    layout->addWidget(m_question);
    layout->addWidget(m_state);
    layout->addStretch();
    connect(m_way, &Segmented::changed, this, [this](int way) { setWay(static_cast<Way>(way)); });
    for (QLineEdit* edit : { m_command, m_folder, m_python })
        connect(edit, &QLineEdit::textEdited, this, [this] {
            m_question->setVisible(false); // what was asked is not what stands there any more
            showState();
        });
    connect(m_run, &QPushButton::clicked, this, [this] {
        if (m_job.running())
            return m_job.cancel();
        if (way() == Calls)
            return run(); // operators on a list of ours, in a child with limits
        m_question->setVisible(true);
        m_agree->setFocus();
    });
    connect(m_agree, &QPushButton::clicked, this, &WhatIfConfirmPanel::run);
    connect(refuse, &QPushButton::clicked, this, [this] { m_question->setVisible(false); });
    connect(&m_job, &ConfirmJob::progressed, this, &WhatIfConfirmPanel::showState);
    connect(&m_job, &ConfirmJob::ended, this, &WhatIfConfirmPanel::ended);
    showState();
}

WhatIfConfirmPanel::Way WhatIfConfirmPanel::way() const
{
    return static_cast<Way>(m_way->chosen());
}

void WhatIfConfirmPanel::setWay(Way way)
{
    m_way->choose(way);
    m_ways->setCurrentIndex(way);
    m_question->setVisible(false);
    if (!m_job.running())
        m_problem.clear(); // it is of the other way
    showState();
}

void WhatIfConfirmPanel::refresh()
{
    const void* trace = m_whatIf.device() ? m_whatIf.device()->trace : nullptr;
    if (trace != m_trace) {
        m_trace = trace;
        m_job.cancel();
        m_kept.clear();
        m_problem.clear();
        m_command->setText(recordedCommand(m_whatIf));
        m_command->setCursorPosition(0);
        const auto question = m_whatIf.question();
        const QFileInfo file(question ? question->recordings.front().path : QString());
        m_folder->setText(file.exists() ? file.absolutePath() : QString());
    }
    m_question->setVisible(m_question->isVisible() && !m_job.running());
    showState();
}

ConfirmRequest WhatIfConfirmPanel::request() const
{
    const auto question = m_whatIf.question();
    return { .words = question ? question->words() : QStringList(),
        .byCalls = way() == Calls,
        .python = m_python->text(),
        .command = m_command->text(),
        .folder = m_folder->text() };
}

QString WhatIfConfirmPanel::whyNot() const
{
    const auto question = m_whatIf.question();
    if (!question)
        return tr("There is nothing to confirm yet.");
    const model::Scenario& scenario = question->scenario;
    if (scenario.changesNothing())
        return tr("Nothing changes: change something at the left.");
    if (const model::Change* const spread = model::firstThatDoes(scenario.changes, model::Does::Spreads))
        return tr("%1 is not confirmed: a program is not run as one of many ranks.")
            .arg(text::utf8(spread->text));
    if (const model::Change* const own
        = model::firstOf(scenario.changes, &model::ChangeKind::isWrittenByHand))
        return tr("Nobody but you can write %1 into the program: edit it, and record it again.")
            .arg(text::utf8(own->text));
    const model::DeviceTrace& trace = *m_whatIf.device()->trace;
    if (model::changeOfPython(trace, scenario) != nullptr) {
        const auto byHand = std::ranges::find_if(scenario.changes, [](const model::Change& change) {
            return model::isMadeInPython(change) && !model::isToldWithoutModules(change);
        });
        if (byHand != scenario.changes.end())
            return tr("%1 is made from outside in programs of Python alone, and this one is in C++: write it "
                      "there, and record it again.")
                .arg(text::utf8(byHand->text));
        if (way() == Program)
            return tr(
                "%1 is made from outside in programs of Python alone, and this one is in C++: confirm it "
                "by recorded calls.")
                .arg(text::utf8(model::changeOfPython(trace, scenario)->text));
    }
    if (way() == Program) {
        const model::Change* const alone
            = model::firstOf(scenario.changes, &model::ChangeKind::isToldByCallsAlone);
        return alone == nullptr
            ? QString()
            : tr("Nobody can write %1 into a program from outside: confirm it by recorded calls.")
                  .arg(text::utf8(alone->text));
    }
    for (const model::Change& change : scenario.changes)
        if (!model::isToldByCalls(change))
            return tr("Calls do not tell what %1 comes to: run the program.").arg(text::utf8(change.text));
    const auto list = model::callListOf(trace);
    if (list)
        return {};
    QString what = text::said(list.error().what);
    what[0] = what[0].toUpper();
    return tr("%1. Run the program, or record it anew with strata record --deep-step 3.").arg(what);
}

QString WhatIfConfirmPanel::whatLacks() const
{
    const QString command = m_command->text();
    const auto question = m_whatIf.question();
    if (!question)
        return {};
    const bool isBatch = isOfAnotherBatch(*question);
    if (way() == Calls)
        return isBatch && !hasOtherCalls(*question)
            ? tr(
                "Add a recording with a deep step and another batch in Other recordings, or run the program.")
            : QString();
    if (command.trimmed().isEmpty())
        return tr("The recording does not tell its command: write it down.");
    if (isBatch && !command.contains(QLatin1String("{BATCH}")))
        return tr("Write {BATCH} where the program is told its batch.");
    const bool isWritten = command.contains(QLatin1String("{SEQUENCE}"));
    if (isOfAnotherLength(*question) && !isWritten)
        return tr("Write {SEQUENCE} where the program is told the length of its sequences.");
    return isWritten && !question->saysLengths()
        ? tr("{SEQUENCE} stands for a number that is not known: switch Sequence on, and say how long the "
             "sequences of each recording are.")
        : QString();
}

const WhatIfConfirmPanel::Kept* WhatIfConfirmPanel::kept() const
{
    const auto question = m_whatIf.question();
    const auto kept = question ? m_kept.find(question->commandLine()) : m_kept.end();
    return kept == m_kept.end() ? nullptr : &kept->second;
}

const Confirmation* WhatIfConfirmPanel::confirmation() const
{
    const Kept* of = kept();
    return of != nullptr ? &of->confirmation : nullptr;
}

QString WhatIfConfirmPanel::confirmedBy() const
{
    const Kept* of = kept();
    return of != nullptr ? of->commandLine : QString();
}

const Confirmation* WhatIfConfirmPanel::confirmationOf(const WhatIfAnswer& answer) const
{
    const auto kept = m_kept.find(answer.question.commandLine());
    return kept == m_kept.end() ? nullptr : &kept->second.confirmation;
}

void WhatIfConfirmPanel::showState()
{
    const QString never = whyNot(), why = never.isEmpty() ? whatLacks() : never;
    const bool running = m_job.running();
    m_run->setText(running ? tr("Cancel") : tr("Confirm…"));
    m_run->setEnabled(running ? !m_job.cancelling() : why.isEmpty());
    m_ways->setEnabled(!running && (never.isEmpty() || m_whatIf.scenario().changesNothing()));
    const QString line = running ? m_job.request().commandLine()
        : why.isEmpty()          ? request().commandLine()
                                 : QString();
    m_line->setText(line);
    m_line->setVisible(!line.isEmpty()); // what is said instead stands right below the fields
    m_state->setText(running ? runningText() : why.isEmpty() ? cameText() : why.toHtmlEscaped());
}

QString WhatIfConfirmPanel::runningText() const
{
    return m_job.cancelling()        ? tr("Cancelling…")
        : m_job.progress().isEmpty() ? tr("Running…")
                                     : tr("Running: %1").arg(m_job.progress().toHtmlEscaped());
}

/// What came of the question as it stands: a later failure is said rather than what was confirmed before.
QString WhatIfConfirmPanel::cameText() const
{
    const auto question = m_whatIf.question();
    if (!m_problem.isEmpty() && question && question->commandLine() == m_asked)
        return tr("%1 %2").arg(text::strong(tr("Not confirmed:")), m_problem.toHtmlEscaped());
    const Kept* of = kept();
    if (of == nullptr)
        return {};
    const QString came = confirmedText(of->confirmation);
    return of->commandLine == request().commandLine()
        ? came
        : tr("%1 That was another command: %2").arg(came, of->commandLine.toHtmlEscaped());
}

void WhatIfConfirmPanel::run()
{
    m_question->setVisible(false);
    m_problem.clear();
    const auto question = m_whatIf.question();
    if (!question || !whyNot().isEmpty() || !whatLacks().isEmpty())
        return;
    m_asked = question->commandLine();
    (void)m_job.start(request(), m_problem);
    showState();
    Q_EMIT runningChanged();
}

void WhatIfConfirmPanel::ended(const ConfirmOutcome& outcome)
{
    if (outcome.cancelled)
        m_problem = tr("it was cancelled");
    else if (outcome.confirmation)
        m_kept[m_asked] = { *outcome.confirmation, outcome.request.commandLine() };
    else
        m_problem = outcome.problem;
    showState();
    Q_EMIT changed();
    Q_EMIT runningChanged();
}

QString WhatIfConfirmPanel::lineText() const
{
    return m_line->text();
}

QString WhatIfConfirmPanel::stateText() const
{
    return m_state->text();
}

} // namespace strata::views
