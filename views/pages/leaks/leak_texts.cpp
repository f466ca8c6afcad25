// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/leaks/leak_texts.h"

#include "model/analysis/summary/recorded_card.h"
#include "model/analysis/training/leaks/leak_rate.h"
#include "model/analysis/training/steps/evidence_words.h"
#include "views/models/document/training_words.h"
#include "views/pages/parts/summary_facts.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/training/leaks_table.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

namespace strata::views {

namespace {

struct LeakTexts {
    Q_DECLARE_TR_FUNCTIONS(LeakTexts)
};

constexpr QLatin1String kScheme("site:");
constexpr std::size_t kMostNamed = 3;
constexpr std::int64_t kFewestSteps = 6; // after the warm-up, as findLeaks() wants them

/// Rich text, without its full stop.
QString leakSentence(const model::Sentence& what)
{
    QString html = verdictHtml({ what }, {});
    if (!html.isEmpty())
        html[0] = html[0].toUpper();
    return html;
}

QString siteLink(const TrainingData& training, std::size_t row)
{
    return QStringLiteral("<a href=\"%1%2\" style=\"text-decoration:none\">%3</a>")
        .arg(kScheme, QString::number(row),
            leakPlaceText(training, training.leaks->sites[row]).toHtmlEscaped());
}

/// Places in LeakReport::sites.
std::vector<std::size_t> leaksOf(const model::LeakReport& report)
{
    std::vector<std::size_t> leaks;
    for (std::size_t row = 0; row < report.sites.size(); ++row)
        if (report.sites[row].kind == model::LeakKind::Leak)
            leaks.push_back(row);
    return leaks;
}

QString allPerStep(const model::LeakReport& report)
{
    return text::strong(text::bytes(report.allocatedBytesPerStep()));
}

QString andMore(std::size_t leaks, std::size_t named)
{
    return leaks > named
        ? QLatin1Char(' ') + LeakTexts::tr("and %1 more").arg(text::count(static_cast<qint64>(leaks - named)))
        : QString();
}

/// "train.py:57"; of several "train.py:57 1.50 MiB, model.py:12 512 B and 4 more".
QString leaksNamed(const TrainingData& training)
{
    const std::vector<std::size_t> leaks = leaksOf(*training.leaks);
    if (leaks.size() == 1)
        return siteLink(training, leaks.front());
    QStringList named;
    for (const std::size_t row : std::span(leaks).first(std::min(leaks.size(), kMostNamed)))
        named << siteLink(training, row) + QLatin1Char(' ')
                + text::strong(text::bytes(model::rateOf(training.leaks->sites[row]).bytes));
    return named.join(QStringLiteral(", ")) + andMore(leaks.size(), kMostNamed);
}

/// After the warm-up.
std::int64_t steadySteps(const model::LeakReport& report)
{
    return std::max<std::int64_t>(report.steps - report.warmup, 0);
}

QString stepsLeft(const model::LeakReport& report)
{
    return text::strong(
        text::counted(roughly(*report.stepsToOom), LeakTexts::tr("1 step"), LeakTexts::tr("%1 steps")));
}

} // namespace

QString leaksVerdict(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    QStringList all;
    switch (report.verdict) {
    case model::LeakReport::Verdict::Found:
        all << LeakTexts::tr("Leaks %1 of allocated memory per step: %2.")
                   .arg(allPerStep(report), leaksNamed(training));
        if (report.stepsToOom && report.capacityBytes)
            all << LeakTexts::tr("At most %1 more fit into the %2 of the device.")
                       .arg(stepsLeft(report), text::strong(text::bytes(*report.capacityBytes)));
        break;
    case model::LeakReport::Verdict::None:
        all << LeakTexts::tr("%1 %2.").arg(text::strong(LeakTexts::tr("No leak.")), leakSentence(report.why));
        break;
    case model::LeakReport::Verdict::Undecided:
        all << LeakTexts::tr("%1 %2.").arg(
            text::strong(LeakTexts::tr("Undecided.")), leakSentence(report.why));
        break;
    }
    return text::unbroken(all.join(QLatin1Char(' ')));
}

QString leaksLine(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    if (report.verdict != model::LeakReport::Verdict::Found)
        return {};
    const std::vector<std::size_t> leaks = leaksOf(report);
    const QString where
        = text::pageLinked(
              leakPlaceText(training, report.sites[leaks.front()]).toHtmlEscaped(), QStringLiteral("leaks"))
        + andMore(leaks.size(), 1);
    return text::unbroken(report.stepsToOom
            ? LeakTexts::tr("Leaks %1 of allocated memory per step at %2: at most %3 more fit.")
                  .arg(allPerStep(report), where, stepsLeft(report))
            : LeakTexts::tr("Leaks %1 of allocated memory per step at %2.").arg(allPerStep(report), where));
}

QString leaksFoundHow(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    if (report.steps == 0)
        return {};
    const QString evidence = text::said(model::evidenceSentence(report.evidence));
    if (tooFewSteps(report))
        return LeakTexts::tr("Steps are %1.").arg(evidence);
    const QString steps = report.rounds
        ? text::counted(
            report.steps, LeakTexts::tr("1 round of a loop"), LeakTexts::tr("%1 rounds of a loop"))
        : text::counted(report.steps, LeakTexts::tr("1 step"), LeakTexts::tr("%1 steps"));
    if (report.warmup == 0)
        return LeakTexts::tr("The ends of %1 were compared; steps are %2.").arg(steps, evidence);
    return report.warmup == 1
        ? LeakTexts::tr("The ends of %1 were compared, the first one left out as warm-up; steps are %2.")
              .arg(steps, evidence)
        : LeakTexts::tr("The ends of %1 were compared, the first %2 left out as warm-up; steps are %3.")
              .arg(steps, text::count(report.warmup), evidence);
}

std::int64_t roughly(std::int64_t count)
{
    std::int64_t unit = 1;
    while (count >= 1000 && count / unit >= 100)
        unit *= 10;
    const std::int64_t units = count / unit + (count % unit >= (unit + 1) / 2 && unit > 1 ? 1 : 0);
    return units > std::numeric_limits<std::int64_t>::max() / unit ? count : units * unit;
}

std::optional<std::size_t> siteOfLink(const QString& link)
{
    if (!link.startsWith(kScheme))
        return std::nullopt;
    bool ok = false;
    const qulonglong row = link.mid(kScheme.size()).toULongLong(&ok);
    return ok ? std::optional(static_cast<std::size_t>(row)) : std::nullopt;
}

QString leakSiteText(const TrainingData& training, const model::LeakSite& site, const Palette& palette)
{
    const Palette::Role role = site.kind == model::LeakKind::Leak ? Palette::Role::Bad
        : site.kind == model::LeakKind::Undecided                 ? Palette::Role::Warning
                                                                  : Palette::Role::Good;
    QString all
        = QStringLiteral("<b style=\"color:%1\">%2 %3</b> · %4")
              .arg(palette[role].name(), text::leakSign(site.kind), text::leakKind(site.kind).toHtmlEscaped(),
                  leakPlaceText(training, site).toHtmlEscaped());
    const auto add = [&](const QString& name, const model::Sentence& what) {
        if (!what.empty())
            all += QStringLiteral("<p style=\"margin:6px 0 0 0\"><b>%1</b> %2</p>")
                       .arg(name, LeakTexts::tr("%1.").arg(leakSentence(what)));
    };
    add(LeakTexts::tr("Likely:"), site.pattern);
    add(LeakTexts::tr("What to change:"), site.change);
    add(LeakTexts::tr("Why it was decided so:"), site.why);
    return text::unbroken(all);
}

EmptyNotice::Text noLeaksNotice(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    const QString recordAgain = text::utf8(model::recordAgain(training.trace->recording()));
    if (report.verdict == model::LeakReport::Verdict::None)
        return { LeakTexts::tr("Nothing grows"),
            LeakTexts::tr(
                "No line of code keeps more at the end of one step than at the end of the one before."),
            {}, {} };
    if (training.trace->eventCount() == 0)
        return { LeakTexts::tr("No events were recorded"),
            LeakTexts::tr("Leaks are what grows from step to step. Record the program from its start:"),
            recordAgain, {}, LeakTexts::tr("Or call this in it before the training loop:"),
            text::recordLine() };
    if (report.noneComplete)
        return { LeakTexts::tr("The recording has no complete step"),
            training.trace->outOfMemories().empty()
                ? LeakTexts::tr(
                    "Leaks are what grows from step to step. Let the program make at least %1 steps "
                    "after the warm-up, and record it:")
                      .arg(text::count(kFewestSteps))
                : LeakTexts::tr(
                    "Leaks are what grows from step to step, and the program ran out of memory within "
                    "the first one. Summary says what to do."),
            training.trace->outOfMemories().empty() ? recordAgain : QString(), {} };
    if (report.steps == 0)
        return { LeakTexts::tr("No steps to compare"),
            LeakTexts::tr("Leaks are what grows from step to step. This sees where steps end:"), recordAgain,
            {}, LeakTexts::tr("Or name the steps in the program:"), text::stepLines() };
    if (report.areGuess)
        return { LeakTexts::tr("The steps are a guess"),
            LeakTexts::tr("Leaks are what grows from step to step. Name the steps in the program:"),
            text::stepLines(), {} };
    return { LeakTexts::tr("Finding leaks needs %1 steps after the warm-up: %2 recorded")
                 .arg(text::count(kFewestSteps), text::count(steadySteps(report))),
        LeakTexts::tr("The warm-up took %1 of %2: memory that stays is still allocated there. "
                      "Let the program make 30 steps after the warm-up, and record it:")
            .arg(text::count(report.warmup),
                text::counted(report.steps, LeakTexts::tr("1 step"), LeakTexts::tr("%1 steps"))),
        recordAgain, {} };
}

bool tooFewSteps(const model::LeakReport& report)
{
    return report.verdict == model::LeakReport::Verdict::Undecided && report.sites.empty()
        && (report.areGuess || steadySteps(report) < kFewestSteps);
}

QString leaksFooter(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    if (report.sites.empty())
        return {};
    const std::int64_t bytes = report.allocatedBytesPerStep();
    const QString sites
        = text::counted(std::ssize(report.sites), LeakTexts::tr("1 site"), LeakTexts::tr("%1 sites"));
    return bytes > 0
        ? LeakTexts::tr("%1; leaks of %2 of allocated memory per step").arg(sites, text::exactBytes(bytes))
        : sites;
}

} // namespace strata::views
