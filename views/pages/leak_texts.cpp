// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/leak_texts.h"

#include "views/models/training_words.h"
#include "views/pages/summary_facts.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"
#include "views/widgets/training/leaks_table.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <vector>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(LeakTexts)
};

constexpr QLatin1String kScheme("site:");
constexpr std::size_t kMostNamed = 3;

/// Rich text, without its full stop.
QString sentence(const model::Sentence& what)
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

QString perStep(const model::LeakSite& site)
{
    return text::bytes(
        std::max({ site.allocatedBytesPerStep, site.reservedBytesPerStep, site.requestedBytesPerStep }));
}

/// "train.py:57"; of several "train.py:57 (1.50 MiB a step), model.py:12 (512 B a step) and 4 more".
QString leaksNamed(const TrainingData& training)
{
    std::vector<std::size_t> leaks;
    for (std::size_t row = 0; row < training.leaks->sites.size(); ++row)
        if (training.leaks->sites[row].kind == model::LeakKind::Leak)
            leaks.push_back(row);
    if (leaks.size() == 1)
        return siteLink(training, leaks.front());
    QStringList named;
    for (std::size_t i = 0; i < std::min(leaks.size(), kMostNamed); ++i)
        named << Words::tr("%1 (%2 a step)")
                     .arg(siteLink(training, leaks[i]),
                         text::strong(perStep(training.leaks->sites[leaks[i]])));
    QString all = named.join(QStringLiteral(", "));
    if (leaks.size() > kMostNamed)
        all += QLatin1Char(' ')
            + Words::tr("and %1 more").arg(text::count(std::ssize(leaks) - static_cast<qint64>(kMostNamed)));
    return all;
}

/// What was compared with what, and how the steps were found.
QString howFound(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    if (report.steps == 0)
        return {};
    const QString steps = text::counted(report.steps, Words::tr("1 step"), Words::tr("%1 steps"));
    const QString evidence = text::evidence(training.steps->evidence);
    return report.warmup > 0
        ? Words::tr("The ends of %1 were compared, the first %2 left out as warm-up; steps "
                    "are %3.")
              .arg(text::strong(steps), text::strong(text::count(report.warmup)), evidence)
        : Words::tr("The ends of %1 were compared; steps are %2.").arg(text::strong(steps), evidence);
}

} // namespace

QString leaksVerdict(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    QStringList all;
    switch (report.verdict) {
    case model::LeakReport::Verdict::Found:
        all << Words::tr("%1 %2: %3.")
                   .arg(text::strong(Words::tr("It leaks.")), sentence(report.why), leaksNamed(training));
        if (report.stepsToOom && report.capacityBytes)
            all << Words::tr("%1 more fit into the %2 of the device.")
                       .arg(text::strong(text::counted(
                                *report.stepsToOom, Words::tr("1 step"), Words::tr("%1 steps"))),
                           text::strong(text::bytes(*report.capacityBytes)));
        break;
    case model::LeakReport::Verdict::None:
        all << Words::tr("%1 %2.").arg(text::strong(Words::tr("No leak.")), sentence(report.why));
        break;
    case model::LeakReport::Verdict::Undecided:
        all << Words::tr("%1 %2.").arg(text::strong(Words::tr("Undecided.")), sentence(report.why));
        break;
    }
    if (const QString how = howFound(training); !how.isEmpty())
        all << how;
    return text::unbroken(all.join(QLatin1Char(' ')));
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
                       .arg(name, Words::tr("%1.").arg(sentence(what)));
    };
    add(Words::tr("Likely:"), site.pattern);
    add(Words::tr("What to change:"), site.change);
    add(Words::tr("Why it was decided so:"), site.why);
    return text::unbroken(all);
}

EmptyNotice::Text noLeaksNotice(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    if (report.verdict == model::LeakReport::Verdict::None)
        return { Words::tr("Nothing grows"),
            Words::tr("No line of code keeps more at the end of one step than at the end of the one before."),
            {}, {} };
    if (report.steps == 0)
        return { Words::tr("No steps to compare"),
            Words::tr(
                "Leaks are what grows from step to step. strata record sees where steps end; in a program of "
                "your own, name them:"),
            QStringLiteral("with torch.profiler.record_function(f\"ProfilerStep#{step}\"):\n    ..."), {} };
    return { Words::tr("Too few steps"),
        Words::tr("Record more of them: 30 after the warm-up tell a leak from what is still being made."), {},
        {} };
}

QString leaksFooter(const TrainingData& training)
{
    const model::LeakReport& report = *training.leaks;
    if (report.sites.empty())
        return {};
    const std::int64_t bytes = report.allocatedBytesPerStep();
    const QString sites = text::counted(std::ssize(report.sites), Words::tr("1 site"), Words::tr("%1 sites"));
    return bytes > 0 ? Words::tr("%1, leaks of %2 a step").arg(sites, text::exactBytes(bytes)) : sites;
}

} // namespace strata::views
