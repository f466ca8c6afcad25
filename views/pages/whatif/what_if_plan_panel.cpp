// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/whatif/what_if_plan_panel.h"

#include "model/base/units.h"
#include "views/models/whatif/what_if_words.h"
#include "views/pages/whatif/what_if_texts.h"
#include "views/style/labels.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/flow_layout.h"
#include "views/widgets/plain_table_view.h"
#include "views/widgets/whatif/plan_tables.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSplitter>
#include <QStringList>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

constexpr int kBudgetWidth = 96, kLeastHeight = 48; // before scaling

/// The same question with other changes.
QString commandOf(WhatIfQuestion question, const model::Scenario& scenario)
{
    question.scenario = scenario;
    return question.commandLine();
}

QString percent(double share)
{
    return QStringLiteral("%1 %").arg(QString::number(share * 100, 'f', 1));
}

} // namespace

WhatIfPlanPanel::WhatIfPlanPanel(WhatIf& whatIf, QWidget* parent)
    : QWidget(parent)
    , m_whatIf(whatIf)
    , m_goal(new QComboBox)
    , m_budget(new QLineEdit)
    , m_plan(new QPushButton(tr("Plan")))
    , m_sentence(textLabel(QString()))
    , m_table(new PlainTableView)
    , m_code(new QPlainTextEdit)
    , m_hints(new QWidget)
    , m_copy(linkButton(tr("Copy code")))
    , m_take(linkButton(tr("Take it over")))
{
    const auto addGoal = [this](const QString& name, const QString& tip) {
        m_goal->addItem(name);
        m_goal->setItemData(m_goal->count() - 1, tip, Qt::ToolTipRole);
    };
    addGoal(tr("Fit into"), tr("Which modules to checkpoint, at the least that is computed again"));
    addGoal(tr("Largest batch"), tr("That fits the device"));
    addGoal(tr("Cheapest changes"), tr("What makes it fit the device at the least cost"));
    m_goal->setAccessibleName(tr("What the plan is for"));
    m_budget->setPlaceholderText(QStringLiteral("20GiB"));
    m_budget->setAccessibleName(tr("Size that is not to be exceeded"));
    m_budget->setToolTip(tr("No more than this is to be reserved, such as 20GiB"));
    m_budget->setFixedWidth(scaled(kBudgetWidth, font()));
    m_sentence->setTextFormat(Qt::RichText);
    m_table->setAccessibleName(tr("The plan"));
    for (QWidget* part : { static_cast<QWidget*>(m_table), static_cast<QWidget*>(m_code) })
        part->setMinimumHeight(scaled(kLeastHeight, font()));
    m_code->setReadOnly(true);
    m_code->setFont(codeFont(font()));
    m_code->setLineWrapMode(QPlainTextEdit::NoWrap);
    m_code->setAccessibleName(tr("Code to paste behind where the program makes its model"));
    m_copy->setToolTip(tr("Python to paste behind where the program makes its model"));
    m_take->setToolTip(tr("The plan becomes the changes at the left"));
    auto* head = new FlowLayout;
    head->setSpacings(kGrid, kGrid / 2);
    for (QWidget* part : { static_cast<QWidget*>(m_goal), static_cast<QWidget*>(m_budget),
             static_cast<QWidget*>(m_plan), static_cast<QWidget*>(m_take), static_cast<QWidget*>(m_copy) })
        head->addWidget(part);
    auto* beside = new QSplitter(Qt::Horizontal);
    beside->addWidget(m_table);
    beside->addWidget(m_code);
    beside->setStretchFactor(0, 3);
    beside->setStretchFactor(1, 2);
    beside->setChildrenCollapsible(false);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(kGrid / 2);
    layout->addLayout(head);
    layout->addWidget(m_sentence);
    layout->addWidget(beside, 1);
    layout->addWidget(m_hints);
    connect(m_goal, &QComboBox::activated, this, [this] { refresh(); });
    connect(m_budget, &QLineEdit::textEdited, this, [this] { refresh(); });
    connect(m_budget, &QLineEdit::returnPressed, this, &WhatIfPlanPanel::plan);
    connect(m_plan, &QPushButton::clicked, this, [this] {
        if (m_planner.job().running())
            m_planner.cancel();
        else
            plan();
    });
    connect(&m_planner, &WhatIfPlanner::changed, this, [this] {
        showPlan();
        showSentence();
    });
    connect(&m_planner, &WhatIfPlanner::refusalChanged, this, &WhatIfPlanPanel::refresh);
    connect(&m_planner.job(), &BackgroundJob::runningChanged, this, &WhatIfPlanPanel::refresh);
    connect(m_copy, &QPushButton::clicked, this, [this] {
        QApplication::clipboard()->setText(code());
        Q_EMIT announced(tr("copied the code"));
    });
    connect(m_take, &QPushButton::clicked, this, [this] {
        if (const auto& plan = m_planner.plan(); plan && plan->made)
            Q_EMIT taken(plan->scenario());
    });
    showPlan();
    showSentence();
}

PlanGoal WhatIfPlanPanel::goal() const
{
    return static_cast<PlanGoal>(m_goal->currentIndex());
}

void WhatIfPlanPanel::setGoal(PlanGoal goal)
{
    m_goal->setCurrentIndex(static_cast<int>(goal));
    refresh();
}

std::optional<std::int64_t> WhatIfPlanPanel::budgetBytes() const
{
    const auto bytes = model::parseBytes(m_budget->text().trimmed().toStdString());
    return bytes && *bytes > 0 ? bytes : std::nullopt;
}

void WhatIfPlanPanel::refresh()
{
    const void* trace = m_whatIf.device() ? m_whatIf.device()->trace : nullptr;
    if (trace != m_trace) {
        m_trace = trace;
        m_planner.forget();
    }
    const bool running = m_planner.job().running();
    m_budget->setVisible(goal() == PlanGoal::Budget);
    m_plan->setText(running ? tr("Cancel") : tr("Plan"));
    const auto question = m_whatIf.planQuestion();
    if (question)
        m_planner.look(*question, goal());
    m_plan->setEnabled(
        running || (question && !m_planner.refusal() && (goal() != PlanGoal::Budget || budgetBytes())));
    showSentence();
}

void WhatIfPlanPanel::plan()
{
    const auto question = m_whatIf.planQuestion();
    const bool isBudget = goal() == PlanGoal::Budget;
    if (!question || (isBudget && !budgetBytes()))
        return;
    m_planner.start(*question, goal(), isBudget ? *budgetBytes() : 0);
}

bool WhatIfPlanPanel::isPlanOf(const WhatIfQuestion& question) const
{
    const WhatIfPlan& plan = *m_planner.plan();
    WhatIfQuestion same = question;
    same.plan = plan.question.plan; // it may be of another size, which it says
    same.scenario = plan.question.scenario;
    const QString asked = question.commandLine();
    return plan.goal == goal() && same.commandLine() == plan.question.commandLine()
        && std::ranges::equal(
            same.recordings, plan.question.recordings, {}, &WhatIfRecording::items, &WhatIfRecording::items)
        && (asked == commandOf(question, plan.question.scenario)
            || asked == commandOf(question, plan.scenario()));
}

/// The table and the code of what was found.
void WhatIfPlanPanel::showPlan()
{
    const auto& plan = m_planner.plan();
    const model::CheckpointPlan* checkpoints = plan ? plan->checkpoints() : nullptr;
    m_copy->setEnabled(!code().isEmpty());
    m_table->setVisible(
        plan && plan->made && (plan->fit() != nullptr || !checkpoints->chosen.modules.empty()));
    m_code->setVisible(!code().isEmpty());
    m_code->setPlainText(code());
    if (plan && plan->fit() != nullptr)
        m_table->setSource(std::make_shared<const FitOptionsTable>(plan));
    else if (checkpoints != nullptr)
        m_table->setSource(std::make_shared<const PlanModulesTable>(plan));
    else
        m_table->setSource(nullptr);
    showHints();
}

/// Changes that no plan tries, since recorded calls alone answer them.
void WhatIfPlanPanel::showHints()
{
    const auto& plan = m_planner.plan();
    qDeleteAll(m_hints->findChildren<QWidget*>(Qt::FindDirectChildrenOnly));
    delete m_hints->layout();
    m_hints->setVisible(plan && !plan->hints.empty());
    if (!m_hints->isVisibleTo(this))
        return;
    auto* lines = new QGridLayout(m_hints);
    lines->setContentsMargins(0, 0, 0, 0);
    lines->setColumnStretch(0, 1);
    for (const model::CallHint& hint : plan->hints) {
        const QString command = text::utf8(hint.command);
        auto* copy = linkButton(tr("Copy command"));
        copy->setToolTip(command);
        connect(copy, &QPushButton::clicked, this, [this, command] {
            QApplication::clipboard()->setText(command);
            Q_EMIT announced(tr("copied the command"));
        });
        const int row = lines->rowCount();
        lines->addWidget(textLabel(text::said(hint.sentence())), row, 0);
        lines->addWidget(copy, row, 1);
    }
}

/// What was found, or why nothing is; what was found for another question is said to be of that.
void WhatIfPlanPanel::showSentence()
{
    const auto& plan = m_planner.plan();
    const auto question = m_whatIf.planQuestion();
    const bool isOfThis = plan && question && isPlanOf(*question);
    m_take->setEnabled(isOfThis && plan->made);
    if (m_planner.job().running())
        return m_sentence->setText(tr("Looking for a plan: every choice is predicted as a whole…"));
    const std::optional<model::Error> refusal = isOfThis && !plan->made ? std::optional(plan->made.error())
        : isOfThis                                                      ? std::nullopt
                                                                        : m_planner.refusal();
    QStringList all;
    if (refusal)
        all << tr("%1 %2. %3")
                   .arg(text::strong(tr("No plan:")), text::said(refusal->what).toHtmlEscaped(),
                       whatIfHint(*refusal));
    if (plan && plan->made)
        all << (isOfThis ? foundText(*plan)
                : plan->goal == goal()
                ? tr("%1 %2").arg(text::strong(tr("Of other changes:")), foundText(*plan))
                : tr("%1 %2").arg(text::strong(tr("Of another goal:")), foundText(*plan)));
    if (all.isEmpty())
        all << (goal() == PlanGoal::Budget
                ? tr("Finds modules to checkpoint, at the least recompute. Where these are not enough, it "
                     "adds "
                     "other changes.")
                : tr("It goes by the device at the left, else by that of the recording."));
    m_sentence->setText(text::unbroken(all.join(QLatin1Char(' '))));
}

QString WhatIfPlanPanel::foundText(const WhatIfPlan& plan)
{
    const QString needed = text::strong(text::bytes(plan.neededBytes()));
    QString said;
    if (const model::FitPlan* fit = plan.fit()) {
        const QString capacity = text::bytes(fit->capacityBytes);
        const QString with = text::strong(text::scenario(fit->options[fit->chosen].with({})).toHtmlEscaped());
        const bool isNothing
            = fit->options[fit->chosen].changes.empty() && !fit->options[fit->chosen].settings;
        if (fit->likelyMet())
            said
                = tr("%1 fits %2 by the likeliest sizes alone, and by others of its bounds it does not: that "
                     "is not sure.")
                      .arg(isNothing ? tr("The program as it is") : with, capacity);
        else if (!plan.met())
            said = tr("Nothing that was tried fits %1: the least needs %2.").arg(capacity, needed);
        else if (plan.neededBytes() > fit->capacityBytes)
            said = tr("%1 fits %2, for an allocator that runs out gives back what it has cached: where there "
                      "is room %3 at most are reserved.")
                       .arg(isNothing ? tr("The program as it is") : with, capacity, needed);
        else
            said = isNothing ? tr("It fits %1 as it is, with %2 at most.").arg(capacity, needed)
                             : tr("%1 fits %2, with %3 at most.").arg(with, capacity, needed);
        if (fit->options[fit->chosen].mostItemsTried)
            said += QLatin1Char(' ') + tr("No larger batch was tried.");
    } else {
        const model::CheckpointPlan* checkpoints = plan.checkpoints();
        const QString budget = text::bytes(checkpoints->budgetBytes);
        const model::PlannedCheckpoints& chosen = checkpoints->chosen;
        said = !plan.met()
            ? tr("%1 is not met: the least that checkpoints lead to is %2.").arg(budget, needed)
            : chosen.modules.empty()
            ? tr("Nothing needs to be checkpointed for %1: it needs %2 at most.").arg(budget, needed)
            : tr("%1 is met, with %2 at most; %3 of the forward of a step is computed again.")
                  .arg(budget, needed, percent(chosen.share));
        if (!chosen.modules.empty())
            said += QLatin1Char(' ')
                + (checkpoints->exact
                        ? tr("No other choice of the %1 modules that save something costs less.")
                        : tr("Chosen step by step among %1 modules that save something."))
                      .arg(checkpoints->modules.size());
        if (checkpoints->atLeast)
            said += QLatin1Char(' ')
                + tr("As far as it was recorded: a request was refused then, and what comes behind it is not "
                     "known.");
    }
    return said;
}

void WhatIfPlanPanel::setColours(const Palette& palette)
{
    m_table->setColours(palette);
}

QString WhatIfPlanPanel::sentenceText() const
{
    return m_sentence->text();
}

QString WhatIfPlanPanel::code() const
{
    const auto& plan = m_planner.plan();
    return plan ? plan->code() : QString();
}

QString WhatIfPlanPanel::commandLine() const
{
    const auto& plan = m_planner.plan();
    return plan ? plan->question.commandLine() : QString();
}

} // namespace strata::views
