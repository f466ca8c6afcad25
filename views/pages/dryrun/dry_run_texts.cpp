// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/dryrun/dry_run_texts.h"

#include "model/cards/fits.h"
#include "model/cards/generations.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <algorithm>
#include <cstring>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(DryRun)
};

constexpr int kSignal = 128; // added to the number of the signal that ended a program

QString boldBytes(qint64 bytes)
{
    // A figure and its unit stay on one line.
    return text::strong(text::bytes(bytes).replace(QLatin1Char(' '), QChar(QChar::Nbsp)));
}

QString join(const QStringList& sentences)
{
    QStringList kept = sentences;
    kept.removeAll(QString());
    return kept.join(QLatin1Char(' '));
}

/// A sentence of what somebody else wrote: with a capital and a full stop.
QString sentence(QString text)
{
    text = text.trimmed();
    if (text.isEmpty())
        return text;
    text[0] = text[0].toUpper();
    return QStringLiteral(".!?:").contains(text.back()) ? text : text + QLatin1Char('.');
}

QString card(const DryRunResult& result)
{
    return Words::tr("a simulated %1").arg(result.device);
}

QString circumstances(const DryRunOutcome& outcome)
{
    const DryRunResult& result = *outcome.result;
    const int made = static_cast<int>(result.judged().steps);
    const QString steps = result.stepsAreMarked ? Words::tr("%n step(s) marked by the program", nullptr, made)
                                                : Words::tr("%n optimizer step(s)", nullptr, made);
    const QString run = result.torch.isEmpty()
        ? Words::tr("%1, run in %2.").arg(steps, elapsedText(outcome.elapsedMs))
        : Words::tr("%1 with torch %2, run in %3.").arg(steps, result.torch, elapsedText(outcome.elapsedMs));
    return join({ run, sentence(result.stepsNote), sentence(result.changesNote) });
}

QString whatFailed(const DryRunFigures& run)
{
    if (!run.failure || run.failure->kind.isEmpty())
        return Words::tr("%1 The program %2.")
            .arg(text::strong(Words::tr("Failed.")), endText(run.exitStatus));
    const QString first = run.failure->what.section(QLatin1Char('\n'), 0, 0);
    const QString what = first.isEmpty()
        ? text::strong(run.failure->kind)
        : text::strong(run.failure->kind) + QStringLiteral(": ") + first.toHtmlEscaped();
    return run.failure->where.isEmpty()
        ? Words::tr("%1 %2").arg(text::strong(Words::tr("The program failed:")), what)
        : Words::tr("%1 %2, in %3")
              .arg(text::strong(Words::tr("The program failed:")), what, run.failure->where.toHtmlEscaped());
}

QString hintOf(const DryRunFigures& run)
{
    return run.failure ? sentence(run.failure->hint) : QString();
}

DryRunWords notStarted(const DryRunOutcome& outcome)
{
    DryRunWords out;
    if (!outcome.signalled.isEmpty()) {
        out.verdict = text::strong(Words::tr("The dry run was lost."));
        out.more = Words::tr("strata itself was ended by %1; what it wrote until then is below.")
                       .arg(outcome.signalled);
        return out;
    }
    if (outcome.problem.isEmpty()) {
        out.verdict = text::strong(Words::tr("The dry run told nothing."));
        out.more = Words::tr("strata ended with status %1; what it wrote is below.").arg(outcome.exitStatus);
        return out;
    }
    out.verdict
        = QStringLiteral("%1 %2").arg(text::strong(outcome.began ? Words::tr("The dry run stopped:")
                                                                 : Words::tr("The dry run did not start:")),
            outcome.problem.toHtmlEscaped());
    return out;
}

DryRunWords fitWords(const DryRunOutcome& outcome)
{
    const DryRunResult& result = *outcome.result;
    const QString where
        = Words::tr("a simulated %1 of %2").arg(result.device, text::bytes(result.capacityBytes));
    DryRunWords out;
    if (result.best.empty())
        out.verdict = Words::tr("%1 Not even the lowest value fits on %2.")
                          .arg(text::strong(Words::tr("Nothing fits.")), where);
    else if (result.variables.size() == 1) {
        const bool all = result.best[0].values[0] == result.variables[0].highest;
        const QString value = text::strong(QStringLiteral("%1 = %2")
                                               .arg(text::utf8(result.variables[0].name))
                                               .arg(result.best[0].values[0]));
        out.verdict = all ? Words::tr("%1 fits on %2, and nothing larger was asked for.").arg(value, where)
                          : Words::tr("%1 is the largest that fits on %2.").arg(value, where);
    } else
        out.verdict = Words::tr("The largest %1 that fits on %2, for each choice of the others.")
                          .arg(text::strong(text::utf8(result.variables.back().name)), where);
    out.more = join({ Words::tr("%n run(s) in %1.", nullptr, static_cast<int>(result.tried.size()))
                          .arg(elapsedText(outcome.elapsedMs)),
        sentence(result.stepsNote) });
    return out;
}

} // namespace

DryRunVerdict verdictOf(const DryRunOutcome& outcome)
{
    if (outcome.cancelled)
        return DryRunVerdict::Cancelled;
    if (!outcome.result)
        return DryRunVerdict::NotStarted;
    if (outcome.result->isFit())
        return outcome.result->best.empty() ? DryRunVerdict::DoesNotFit : DryRunVerdict::Fits;
    const DryRunFigures& run = outcome.result->judged();
    if (!run.fits())
        return DryRunVerdict::DoesNotFit;
    if (run.exitStatus != 0)
        return DryRunVerdict::Failed;
    return run.touched() ? DryRunVerdict::Fits : DryRunVerdict::Unused;
}

QString DryRunWords::plainVerdict() const
{
    static const QRegularExpression markup(QStringLiteral("<[^>]*>"));
    QString text = verdict;
    text.remove(markup);
    return text.replace(QChar(QChar::Nbsp), QLatin1Char(' '))
        .replace(QLatin1String("&lt;"), QLatin1String("<"))
        .replace(QLatin1String("&gt;"), QLatin1String(">"))
        .replace(QLatin1String("&quot;"), QLatin1String("\""))
        .replace(QLatin1String("&amp;"), QLatin1String("&"));
}

DryRunWords wordsOf(const DryRunOutcome& outcome)
{
    const DryRunVerdict verdict = verdictOf(outcome);
    if (verdict == DryRunVerdict::NotStarted)
        return notStarted(outcome);
    if (outcome.result && outcome.result->isFit() && verdict != DryRunVerdict::Cancelled)
        return fitWords(outcome);
    DryRunWords out;
    if (verdict == DryRunVerdict::Cancelled && (!outcome.result || !outcome.result->run.touched())) {
        const bool search = !outcome.request.fit.isEmpty();
        out.verdict = (search ? Words::tr("%1 after %2; what was tried until then stands in the output.")
                              : Words::tr("%1 after %2, before the program used the device."))
                          .arg(text::strong(Words::tr("Cancelled")), elapsedText(outcome.elapsedMs));
        return out;
    }
    const DryRunResult& result = *outcome.result;
    const DryRunFigures& run = result.judged();
    const QString changes = result.changes.join(QLatin1Char(' '));
    const QString until
        = Words::tr("until then it had needed %1 of %2 on %3.")
              .arg(boldBytes(run.reservedPeak()), text::bytes(result.capacityBytes), card(result));
    switch (verdict) {
    case DryRunVerdict::Fits:
        out.verdict = Words::tr("%1 Needs %2 of %3 on %4 (peak %5).")
                          .arg(text::strong(result.changed ? Words::tr("Fits with %1.").arg(changes)
                                                           : run.isTight() ? Words::tr("Tight: the CUDA context may need the rest.")
                                                                           : Words::tr("Fits.")),
                              boldBytes(run.reservedPeak()), text::bytes(result.capacityBytes), card(result),
                              boldBytes(run.requestedPeak()));
        out.more = circumstances(outcome);
        break;
    case DryRunVerdict::DoesNotFit: {
        const DryRunDevice* refusing = run.firstRefusing();
        if (refusing == nullptr) {
            out.verdict = Words::tr("%1 Needs %2 of %3 on %4, and the CUDA context needs at least %5.")
                              .arg(text::strong(Words::tr("Does not fit.")), boldBytes(run.reservedPeak()),
                                  text::bytes(result.capacityBytes), card(result),
                                  text::bytes(model::leastOutsideBytesOfProcess()));
            out.more = circumstances(outcome);
            break;
        }
        out.verdict
            = Words::tr("%1 A request of %2 was refused on %3 of %4, of which at most %5 were reserved.")
                  .arg(text::strong(result.changed ? Words::tr("Does not fit with %1.").arg(changes)
                                                   : Words::tr("Does not fit.")),
                      boldBytes(refusing ? refusing->firstRefused.value_or(0) : 0), card(result),
                      text::bytes(result.capacityBytes), boldBytes(run.reservedPeak()));
        out.more = join({ Words::tr("The peaks below are what it reached until then: it needs more."),
            circumstances(outcome) });
        break;
    }
    case DryRunVerdict::Failed:
        out.verdict = whatFailed(run);
        out.more = join({ hintOf(run),
            run.touched()
                ? Words::tr("Until then it had needed %1 of %2 on %3.")
                      .arg(text::bytes(run.reservedPeak()), text::bytes(result.capacityBytes), card(result))
                : QString() });
        break;
    case DryRunVerdict::Unused:
        out.verdict = text::strong(Words::tr("The program ended without using the device."));
        out.more = hintOf(run);
        break;
    case DryRunVerdict::Cancelled:
        if (run.eachCard && run.exitStatus == 0 && (outcome.request.change.isEmpty() || result.changed)) {
            out.verdict = Words::tr("%1 after %2, during the runs on other cards. It needs %3 of %4 on %5.")
                              .arg(text::strong(Words::tr("Cancelled")), elapsedText(outcome.elapsedMs),
                                  boldBytes(run.reservedPeak()), text::bytes(result.capacityBytes), card(result));
            break;
        }
        out.verdict = Words::tr("%1 after %2; %3")
                          .arg(text::strong(Words::tr("Cancelled")), elapsedText(outcome.elapsedMs), until);
        break;
    case DryRunVerdict::NotStarted:
        break;
    }
    return out;
}

QString eachCardCost(const DryRunRequest& request)
{
    const auto others = model::largestOfOtherGenerations(model::findCard(request.device.toStdString()));
    const std::size_t programs = request.change.isEmpty() ? 1 : 2; // with the changes, too
    return Words::tr(
        "Runs the command on the largest card of each other GPU generation: %n more run(s). Two run "
        "at a time where host memory allows. Smaller cards that may be too small get runs of "
        "their own.",
        nullptr, static_cast<int>(programs * others.size()));
}

QString elapsedText(qint64 milliseconds)
{
    const qint64 seconds = milliseconds / 1000;
    if (seconds < 1)
        return Words::tr("less than 1 s");
    if (seconds < 60)
        return Words::tr("%1 s").arg(seconds);
    return Words::tr("%1 min %2 s").arg(seconds / 60).arg(seconds % 60);
}

QString deviceText(const DryRunDevice& device)
{
    const QString gpu = Words::tr("GPU %1").arg(device.device);
    return device.worldSize > 1
        ? Words::tr("rank %1 of %2, %3").arg(device.rank).arg(device.worldSize).arg(gpu)
        : gpu;
}

QString momentText(qint64 event, qint64 steps)
{
    if (event < 0)
        return {};
    return steps <= 0 ? Words::tr("before step 1, event %1").arg(text::count(event))
                      : Words::tr("step %1, event %2").arg(text::count(steps), text::count(event));
}

QString endText(int exitStatus)
{
    if (exitStatus > kSignal && exitStatus < kSignal + 65)
        return Words::tr("was ended by signal %1 (%2)")
            .arg(exitStatus - kSignal)
            .arg(QString::fromLocal8Bit(strsignal(exitStatus - kSignal)));
    return Words::tr("ended with status %1").arg(exitStatus);
}

QString outsideText(const model::Assumption& one)
{
    const QString each = text::utf8(one.each);
    const QString range = one.lowBytes > 0
        ? Words::tr("%1 to %2 a %3").arg(text::bytes(one.lowBytes), text::bytes(one.highBytes), each)
        : Words::tr("up to %1 a %2").arg(text::bytes(one.highBytes), each);
    return one.countedBytes > 0 ? Words::tr("%1, counted as PyTorch asks for it").arg(range)
                                : Words::tr("%1, not counted").arg(range);
}

} // namespace strata::views
