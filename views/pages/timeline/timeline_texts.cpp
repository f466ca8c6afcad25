// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline/timeline_texts.h"

#include "model/session/simulation.h"
#include "views/models/document/document.h"
#include "views/models/document/run_ranks.h"
#include "views/pages/parts/document_texts.h"
#include "views/pages/parts/summary_facts.h"
#include "views/style/texts.h"

#include <QCoreApplication>
#include <QFileInfo>

namespace strata::views {

namespace {

struct TimelineTexts {
    Q_DECLARE_TR_FUNCTIONS(TimelinePage)
};

QString recordCode()
{
    return QStringLiteral("with torch.profiler.profile(profile_memory=True, record_shapes=True) as trace:\n"
                          "    ...\n"
                          "trace.export_chrome_trace(\"trace.json.gz\")");
}

} // namespace

QString timelineVerdict(const WorkFigures& figures)
{
    return text::withMicro(
        verdictHtml(model::verdictOf(figures.report, figures.lanes->session().recording()), {}));
}

QString timelineSteps(const WorkFigures& figures)
{
    std::vector<model::Sentence> said = model::sayStepsOf(figures.report);
    for (model::Sentence& loss : model::sayLossesOf(figures.lanes->work()))
        said.push_back(std::move(loss));
    for (model::Sentence& outside : model::sayOutsideMemory(figures.lanes->outside()))
        said.push_back(std::move(outside));
    for (model::Sentence& durations : model::sayDurations(figures.lanes->session().recording()))
        said.push_back(std::move(durations));
    return text::withMicro(verdictPlain(said));
}

QString timelineRange(const WorkFigures& figures)
{
    return figures.report.range
        ? TimelineTexts::tr("of the %1 that were measured; a click without a drag ends that")
              .arg(text::duration(figures.report.range->ns()))
        : QString();
}

QString ranksVerdict(const RunRanks& ranks)
{
    return text::withMicro(verdictHtml(model::sayRanks(ranks.ranks(), ranks.verdict()), {}));
}

QString timelineRoofline(const WorkFigures& figures)
{
    return text::withMicro(verdictHtml(model::sayRoofline(figures.report.roofline, false), {}));
}

QString timelineAdded(const AddedMemory& added)
{
    return TimelineTexts::tr("<b>%1</b> is added: %2")
        .arg(QFileInfo(added.path).fileName().toHtmlEscaped(),
            text::withMicro(verdictHtml({ model::sayJoin(added.join) }, {})));
}

QString timelinePeaks(const WorkFigures& figures)
{
    std::vector<model::Sentence> peaks;
    for (const model::JoinedPeak& peak : figures.peaks)
        peaks.push_back(model::sayJoinedPeak(peak, figures.lanes->tracks().startNs()));
    return verdictPlain(peaks);
}

std::optional<EmptyNotice::Text> noRoofline(const WorkFigures& figures)
{
    using Lack = model::RooflineLack;
    const model::Roofline& roofline = figures.report.roofline;
    const bool isSimulated = figures.lanes->session().recording().simulated;
    if (!isSimulated && (roofline.lack == Lack::None || roofline.lack == Lack::Card))
        return std::nullopt;
    return EmptyNotice::Text{ TimelineTexts::tr("No roofline"),
        verdictPlain(model::sayRoofline(roofline, isSimulated)),
        roofline.lack == Lack::Shapes ? recordCode() : QString(), {} };
}

EmptyNotice::Text timelineNotice(const Document& document)
{
    if (document.state() == Document::State::Empty || document.state() == Document::State::Loading)
        return { TimelineTexts::tr("Reading the file"), {}, {}, {} };
    if (text::holdsWork(document))
        return { TimelineTexts::tr("Putting work on its lanes"), {}, {}, {} };
    return { TimelineTexts::tr("Nothing here tells what ran when"),
        document.isFollowing()
            ? TimelineTexts::tr("What is watched tells of memory alone.")
            : TimelineTexts::tr("This file tells of memory alone. A trace of torch.profiler tells "
                                "what ran when, and so does a "
                                "recording with --kernels:"),
        document.isFollowing() ? QString() : recordCode(), {} };
}

namespace text {

QString noWorkReason()
{
    return TimelineTexts::tr(
        "This file tells of memory alone, not of what ran when. A trace of torch.profiler does, or "
        "strata record --kernels.");
}

} // namespace text

} // namespace strata::views
