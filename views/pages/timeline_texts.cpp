// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/timeline_texts.h"

#include "views/models/document.h"
#include "views/style/texts.h"
#include "views/widgets/timeline/lane_words.h"

#include <QCoreApplication>

#include <algorithm>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(TimelinePage)
};

QString recordCode()
{
    return QStringLiteral("with torch.profiler.profile(profile_memory=True, record_shapes=True) as trace:\n"
                          "    ...\n"
                          "trace.export_chrome_trace(\"trace.json.gz\")");
}

/// The cause that takes most, within the work of the device.
std::optional<model::WaitCause> mainCause(const model::WaitSums& sums)
{
    const auto longest = std::ranges::max_element(sums, {}, &model::WaitTime::ns);
    return longest->ns > 0 ? std::optional(static_cast<model::WaitCause>(longest - sums.begin()))
                           : std::nullopt;
}

QString strong(const QString& text)
{
    return QStringLiteral("<b>%1</b>").arg(text);
}

/// That no line break parts from its unit.
QString whole(QString figure)
{
    return figure.replace(u' ', QChar(QChar::Nbsp));
}

} // namespace

QString timelineVerdict(const WorkFigures& figures)
{
    const model::WaitTimes& waits = figures.waits;
    if (!waits.device)
        return Words::tr("No work of a GPU is in this trace: what ran on the CPU is below.");
    const QString gpu = Words::tr("GPU %1").arg(*waits.device);
    const auto why = [&](const model::WaitSums& sums, std::int64_t ofNs) {
        const auto cause = mainCause(sums);
        if (!cause)
            return QString();
        const model::WaitTime& wait = sums[static_cast<std::size_t>(*cause)];
        const QString what = strong(text::said(model::waitCauseText(*cause))),
                      remedy = text::said(model::waitRemedy(*cause));
        const QString share = whole(text::share(wait.ns, ofNs));
        const QString most = wait.doing.valid()
            ? Words::tr("Most of it while %1 (%2), such as in %3.")
                  .arg(what, share,
                      text::shortened(text::utf8(figures.lanes->strings()[wait.doing]), 48, text::Keep::End)
                          .toHtmlEscaped())
            : Words::tr("Most of it while %1 (%2).").arg(what, share);
        return u' ' + most + u' ' + Words::tr("What would help: %1.").arg(remedy);
    };
    const auto device = std::ranges::find(figures.devices, *waits.device, &model::DeviceWork::device);
    if (device == figures.devices.end())
        return Words::tr("%1 is idle all the time that was measured, %2.")
                   .arg(gpu, strong(whole(text::duration(waits.range.ns()))))
            + why(waits.around, waits.range.ns());
    const std::int64_t aroundNs = waits.range.ns() - waits.span.ns();
    if (static_cast<double>(aroundNs) > model::kDenseShare * static_cast<double>(waits.range.ns()))
        return Words::tr("%1 is busy for %2 of %3, which %4 took: for %5 it has not begun, or is done.")
                   .arg(gpu, strong(whole(text::share(device->busyNs, waits.range.ns()))),
                       whole(text::duration(waits.range.ns())),
                       figures.range ? Words::tr("what was measured") : Words::tr("the steps"),
                       whole(text::duration(aroundNs)))
            + (aroundNs > device->idleNs() ? why(waits.around, waits.range.ns())
                                           : why(waits.within, waits.span.ns()));
    const model::QueueState queue = model::queueOf(figures.devices);
    const QString text = queue == model::QueueState::Sparse
        ? Words::tr("The program feeds %1 too slowly: it is busy for %2 of %3.")
        : queue == model::QueueState::Dense ? Words::tr("%1 is kept busy: for %2 of %3.")
                                            : Words::tr("%1 has gaps: it is busy for %2 of %3.");
    return text.arg(gpu, strong(whole(text::share(device->busyNs, device->span.ns()))),
               whole(text::duration(device->span.ns())))
        + (queue == model::QueueState::Dense ? QString() : why(waits.within, waits.span.ns()));
}

QString timelineSteps(const WorkFigures& figures)
{
    if (figures.steps.empty())
        return {};
    const auto busy = [&](const model::ProfilerStep& step) {
        return Words::tr("%1, a GPU busy for %2 of that")
            .arg(text::duration(step.time.ns()), text::share(step.deviceBusyNs, step.time.ns()));
    };
    // The first one apart: it warms up and compiles.
    QString text = Words::tr("%1: %2").arg(
        text::utf8(figures.lanes->strings()[figures.steps.front().name]), busy(figures.steps.front()));
    std::vector<model::ProfilerStep> later(figures.steps.begin() + 1, figures.steps.end());
    if (later.empty())
        return text;
    std::ranges::stable_sort(later, {}, [](const model::ProfilerStep& step) { return step.time.ns(); });
    return text + QStringLiteral("; ")
        + Words::tr("the %1 after it: median %2; from %3 to %4")
              .arg(text::counted(std::ssize(later), Words::tr("1 step"), Words::tr("%1 steps")),
                  busy(later[later.size() / 2]), text::duration(later.front().time.ns()),
                  text::duration(later.back().time.ns()));
}

QString timelineRange(const WorkFigures& figures)
{
    return figures.range ? Words::tr("of the %1 that were measured; a click without a drag ends that")
                               .arg(text::duration(figures.range->ns()))
                         : Words::tr("of all of it");
}

EmptyNotice::Text timelineNotice(const Document& document, bool holdsWork)
{
    if (document.state() == Document::State::Empty || document.state() == Document::State::Loading)
        return { Words::tr("Reading the file"), {}, {}, {} };
    if (holdsWork)
        return { Words::tr("Putting work on its lanes"), {}, {}, {} };
    return { Words::tr("Nothing here tells what ran when"),
        document.isFollowing()
            ? Words::tr("What is watched tells of memory alone.")
            : Words::tr("This file tells of memory alone. A trace of torch.profiler tells what ran when:"),
        document.isFollowing() ? QString() : recordCode(), {} };
}

namespace text {

QString noWorkReason()
{
    return Words::tr(
        "This file tells of memory alone, not of what ran when. A trace of torch.profiler does.");
}

} // namespace text

} // namespace strata::views
