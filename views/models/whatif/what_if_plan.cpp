// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/whatif/what_if_plan.h"

#include "views/style/texts.h"

#include <iterator>
#include <limits>
#include <stop_token>
#include <utility>

namespace strata::views {

namespace {

QString planWord(PlanGoal goal, std::int64_t budgetBytes)
{
    switch (goal) {
    case PlanGoal::Budget:
        return QString::number(budgetBytes);
    case PlanGoal::LargestBatch:
        return QStringLiteral("largest-batch");
    case PlanGoal::Cheapest:
        return QStringLiteral("cheapest");
    }
    return {};
}

using Made = model::AnyPlan;

model::Result<Made> planOf(
    const WhatIfQuestion& question, PlanGoal goal, std::int64_t budgetBytes, const model::Progress& progress)
{
    const std::vector<model::RecordedRun> runs = question.runs();
    switch (goal) {
    case PlanGoal::Budget:
        return model::planWithin(
            runs, question.scenario, { .budgetBytes = budgetBytes, .among = {} }, progress);
    case PlanGoal::LargestBatch: {
        auto plan = model::planLargestBatch(runs, question.scenario, progress);
        return plan ? model::Result<Made>(*std::move(plan)) : model::Failure(plan.error());
    }
    case PlanGoal::Cheapest:
        break;
    }
    return model::planForCapacity(runs, question.scenario, progress);
}

/// What refuses such plans before anything is predicted: of work that is stopped from its beginning nothing
/// else comes.
std::optional<model::Error> refusalOf(const WhatIfQuestion& question, PlanGoal goal)
{
    std::stop_source stopped;
    stopped.request_stop();
    const model::Progress none{ .report = {}, .stop = stopped.get_token() };
    const auto isSaid
        = [](const auto& result) { return !result && result.error().kind != model::Error::Kind::Cancelled; };
    const auto made = planOf(question, goal, std::numeric_limits<std::int64_t>::max(), none);
    if (isSaid(made))
        return made.error();
    if (goal != PlanGoal::LargestBatch)
        return std::nullopt;
    WhatIfQuestion twice = question;
    twice.scenario.changes.push_back(*model::Change::parse("batch=x2"));
    const auto answer = twice.answer(none);
    return isSaid(answer) ? std::optional(answer.error()) : std::nullopt;
}

} // namespace

const model::FitPlan* WhatIfPlan::fit() const
{
    return made ? std::get_if<model::FitPlan>(&*made) : nullptr;
}

const model::CheckpointPlan* WhatIfPlan::checkpoints() const
{
    if (!made)
        return nullptr;
    if (const auto* plan = std::get_if<model::CheckpointPlan>(&*made))
        return plan;
    const model::FitPlan& plan = std::get<model::FitPlan>(*made);
    const auto& chosen = plan.options[plan.chosen].checkpoints;
    return chosen ? &*chosen : nullptr;
}

bool WhatIfPlan::met() const
{
    if (!made)
        return false;
    const model::FitPlan* plan = fit();
    return plan != nullptr ? plan->met() : std::get<model::CheckpointPlan>(*made).met;
}

model::Scenario WhatIfPlan::scenario() const
{
    model::Scenario scenario = question.scenario;
    if (!made)
        return scenario;
    if (const model::FitPlan* plan = fit())
        return plan->options[plan->chosen].with(std::move(scenario));
    std::ranges::move(std::get<model::CheckpointPlan>(*made).changes(), std::back_inserter(scenario.changes));
    return scenario;
}

std::int64_t WhatIfPlan::neededBytes() const
{
    if (!made)
        return 0;
    if (const model::FitPlan* plan = fit()) {
        const auto& prediction = plan->options[plan->chosen].prediction;
        return prediction ? prediction->most.reservedBytesPeak : 0;
    }
    return std::get<model::CheckpointPlan>(*made).chosen.prediction.most.reservedBytesPeak;
}

QString WhatIfPlan::code() const
{
    const model::CheckpointPlan* plan = checkpoints();
    return plan != nullptr && !plan->chosen.modules.empty() ? text::utf8(plan->code()) : QString();
}

WhatIfPlanner::WhatIfPlanner(QObject* parent)
    : QObject(parent)
{
}

void WhatIfPlanner::start(WhatIfQuestion question, PlanGoal goal, std::int64_t budgetBytes)
{
    question.plan = planWord(goal, budgetBytes);
    m_job.start(
        [question = std::move(question), goal, budgetBytes](const JobContext& context) {
            auto made = planOf(question, goal, budgetBytes, context.forModel());
            WhatIfPlan plan{ question, goal, std::move(made) };
            if (plan.made && question.scenario.changes.empty() && model::needsChanges(*plan.made)) {
                const WhatIfRecording& first = question.recordings.front();
                plan.hints
                    = model::callHints(*first.run.trace, first.path.toStdString(), first.run.trace->device());
            }
            return std::make_shared<const WhatIfPlan>(std::move(plan));
        },
        [this](std::shared_ptr<const WhatIfPlan> plan) {
            if (!plan->made && plan->made.error().kind == model::Error::Kind::Cancelled)
                return;
            m_plan = std::move(plan);
            Q_EMIT changed();
        });
}

void WhatIfPlanner::look(const WhatIfQuestion& question, PlanGoal goal)
{
    QString of = planWord(goal, 0) + QLatin1Char(' ') + question.key();
    if (std::exchange(m_looked, of) == of)
        return;
    m_refusal.reset();
    m_looking.start([question, goal](const JobContext&) { return refusalOf(question, goal); },
        [this](std::optional<model::Error> refusal) {
            m_refusal = std::move(refusal);
            Q_EMIT refusalChanged();
        });
}

void WhatIfPlanner::cancel()
{
    m_job.cancel();
}

void WhatIfPlanner::forget()
{
    m_job.cancel();
    m_looking.cancel();
    m_looked.clear();
    m_refusal.reset();
    if (std::exchange(m_plan, nullptr))
        Q_EMIT changed();
}

} // namespace strata::views
