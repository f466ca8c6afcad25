// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/training_words.h"

#include "views/style/texts.h"

#include <QCoreApplication>

namespace strata::views::text {

namespace {

struct TrainingTexts {
    Q_DECLARE_TR_FUNCTIONS(Training)
};

} // namespace

QString stepKind(model::StepKind kind)
{
    switch (kind) {
    case model::StepKind::Setup:
        return TrainingTexts::tr("setup");
    case model::StepKind::Train:
        return TrainingTexts::tr("training");
    case model::StepKind::Eval:
        return TrainingTexts::tr("evaluation");
    case model::StepKind::Forward:
        return TrainingTexts::tr("forward alone");
    case model::StepKind::Save:
        return TrainingTexts::tr("saving");
    case model::StepKind::Incomplete:
        return TrainingTexts::tr("incomplete");
    case model::StepKind::Loop:
        return TrainingTexts::tr("loop");
    }
    return {};
}

QString stepKind(const model::TrainingStep& step)
{
    QString all = stepKind(step.kind);
    if (model::isGuess(step))
        all = TrainingTexts::tr("probably %1").arg(all);
    if (step.warmup)
        all = TrainingTexts::tr("%1, warm-up").arg(all);
    if (step.microSteps > 1)
        all = TrainingTexts::tr("%1, %2 backwards").arg(all, count(step.microSteps));
    return all;
}

QString stepName(const model::TrainingStep& step)
{
    return step.shownNumber() ? TrainingTexts::tr("step %1").arg(count(step.number)) : stepKind(step.kind);
}

QString stepNumber(const model::TrainingStep& step)
{
    return step.shownNumber() ? count(step.number) : QStringLiteral("–");
}

QString phase(model::Phase phase)
{
    switch (phase) {
    case model::Phase::Unknown:
        return TrainingTexts::tr("not known");
    case model::Phase::Forward:
        return TrainingTexts::tr("forward");
    case model::Phase::Backward:
        return TrainingTexts::tr("backward");
    case model::Phase::Recompute:
        return TrainingTexts::tr("recompute");
    case model::Phase::Optimizer:
        return TrainingTexts::tr("optimizer");
    case model::Phase::NoGrad:
        return TrainingTexts::tr("without gradients");
    }
    return {};
}

QString phaseLetter(model::Phase phase)
{
    switch (phase) {
    case model::Phase::Unknown:
        return {};
    case model::Phase::Forward:
        return TrainingTexts::tr("F", "forward");
    case model::Phase::Backward:
        return TrainingTexts::tr("B", "backward");
    case model::Phase::Recompute:
        return TrainingTexts::tr("R", "recompute");
    case model::Phase::Optimizer:
        return TrainingTexts::tr("O", "optimizer");
    case model::Phase::NoGrad:
        return TrainingTexts::tr("N", "without gradients");
    }
    return {};
}

QString leakKind(model::LeakKind kind)
{
    switch (kind) {
    case model::LeakKind::Leak:
        return TrainingTexts::tr("leak");
    case model::LeakKind::Undecided:
        return TrainingTexts::tr("undecided");
    case model::LeakKind::PendingStream:
        return TrainingTexts::tr("waits for a stream");
    case model::LeakKind::LongerInputs:
        return TrainingTexts::tr("longer inputs");
    case model::LeakKind::ReservedOnly:
        return TrainingTexts::tr("reserved alone");
    case model::LeakKind::FreedLate:
        return TrainingTexts::tr("freed late");
    case model::LeakKind::Saturating:
        return TrainingTexts::tr("grew and stopped");
    case model::LeakKind::OptimizerState:
        return TrainingTexts::tr("optimizer state");
    }
    return {};
}

QString leakSign(model::LeakKind kind)
{
    switch (kind) {
    case model::LeakKind::Leak:
        return QStringLiteral("▲");
    case model::LeakKind::Undecided:
        return QStringLiteral("?");
    case model::LeakKind::PendingStream:
        return QStringLiteral("⇄");
    case model::LeakKind::LongerInputs:
        return QStringLiteral("↔");
    case model::LeakKind::ReservedOnly:
        return QStringLiteral("□");
    case model::LeakKind::FreedLate:
        return QStringLiteral("↓");
    case model::LeakKind::Saturating:
        return QStringLiteral("–");
    case model::LeakKind::OptimizerState:
        return QStringLiteral("✓");
    }
    return {};
}

} // namespace strata::views::text
