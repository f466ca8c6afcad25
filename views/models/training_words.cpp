// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/training_words.h"

#include "views/style/texts.h"

#include <QCoreApplication>

namespace strata::views::text {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Training)
};

} // namespace

QString stepKind(model::StepKind kind)
{
    switch (kind) {
    case model::StepKind::Setup:
        return Words::tr("setup");
    case model::StepKind::Train:
        return Words::tr("training");
    case model::StepKind::Eval:
        return Words::tr("evaluation");
    case model::StepKind::Forward:
        return Words::tr("forward alone");
    case model::StepKind::Save:
        return Words::tr("saving");
    case model::StepKind::Incomplete:
        return Words::tr("incomplete");
    }
    return {};
}

QString stepKind(const model::TrainingStep& step)
{
    QString all = stepKind(step.kind);
    if (step.warmup)
        all = Words::tr("%1, warm-up").arg(all);
    if (step.microSteps > 1)
        all = Words::tr("%1, %2 backwards").arg(all, count(step.microSteps));
    return all;
}

QString stepName(const model::TrainingStep& step)
{
    return Words::tr("step %1").arg(count(step.number));
}

QString phase(model::Phase phase)
{
    switch (phase) {
    case model::Phase::Unknown:
        return Words::tr("not known");
    case model::Phase::Forward:
        return Words::tr("forward");
    case model::Phase::Backward:
        return Words::tr("backward");
    case model::Phase::Recompute:
        return Words::tr("recompute");
    case model::Phase::Optimizer:
        return Words::tr("optimizer");
    case model::Phase::NoGrad:
        return Words::tr("without gradients");
    }
    return {};
}

QString phaseLetter(model::Phase phase)
{
    switch (phase) {
    case model::Phase::Unknown:
        return {};
    case model::Phase::Forward:
        return Words::tr("F", "forward");
    case model::Phase::Backward:
        return Words::tr("B", "backward");
    case model::Phase::Recompute:
        return Words::tr("R", "recompute");
    case model::Phase::Optimizer:
        return Words::tr("O", "optimizer");
    case model::Phase::NoGrad:
        return Words::tr("N", "without gradients");
    }
    return {};
}

QString evidence(model::StepEvidence evidence)
{
    switch (evidence) {
    case model::StepEvidence::Ranges:
        return Words::tr("told by ranges of the optimizers");
    case model::StepEvidence::Bits:
        return Words::tr("told by what autograd did at each event");
    case model::StepEvidence::Marks:
        return Words::tr("as the program named them");
    case model::StepEvidence::Frames:
        return Words::tr("told by stacks of the optimizers");
    case model::StepEvidence::Rhythm:
        return Words::tr("a guess, from what comes and goes again and again");
    case model::StepEvidence::None:
        break;
    }
    return Words::tr("nothing tells where steps end");
}

QString leakKind(model::LeakKind kind)
{
    switch (kind) {
    case model::LeakKind::Leak:
        return Words::tr("leak");
    case model::LeakKind::Undecided:
        return Words::tr("undecided");
    case model::LeakKind::PendingStream:
        return Words::tr("waits for a stream");
    case model::LeakKind::LongerInputs:
        return Words::tr("longer inputs");
    case model::LeakKind::ReservedOnly:
        return Words::tr("reserved alone");
    case model::LeakKind::FreedLate:
        return Words::tr("freed late");
    case model::LeakKind::Saturating:
        return Words::tr("grew and stopped");
    case model::LeakKind::OptimizerState:
        return Words::tr("optimizer state");
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
