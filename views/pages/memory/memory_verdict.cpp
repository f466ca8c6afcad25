// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/memory/memory_verdict.h"

#include "views/models/document/group_colours.h"
#include "views/pages/parts/summary_facts.h"
#include "views/style/rich_text.h"
#include "views/style/texts.h"

#include <QCoreApplication>

namespace strata::views {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("MemoryVerdict", text);
}

/// "train.py:32", as a link that selects it at that instant.
QString lineLink(const model::Recording& recording, model::FrameId frame, model::EventIndex event)
{
    return text::linked(text::utf8(model::frameShortLabel(recording, frame)).toHtmlEscaped(),
        text::LineLink{ model::frameLabel(recording, frame), event });
}

/// " in train.py:32": the line whose allocation made the peak.
QString placeOf(const DeviceData& device, model::EventIndex event)
{
    if (event < 0)
        return {};
    const model::BlockId block = device.trace->events().block[static_cast<std::size_t>(event)];
    if (!block.valid())
        return {};
    const model::FrameId frame
        = model::userFrame(device.trace->recording(), device.trace->blocks().stack[block]);
    if (!frame.valid())
        return {};
    return tr(" in %1").arg(lineLink(device.trace->recording(), frame, event));
}

/// "; 43.4 % of it is Activations".
QString biggestGroup(const model::GroupTable& groups, const model::LiveGroups& peak)
{
    const model::GroupSum& biggest = peak.groups.front();
    const QString name = groupName(groups, biggest.group);
    const text::GroupLink link{ groups.label(biggest.group), peak.event };
    return tr("; %1 of it is %2")
        .arg(text::strong(text::share(biggest.bytes, peak.requestedBytes)),
            groups.find({ link.label }) == biggest.group ? text::linked(name.toHtmlEscaped(), link)
                                                         : text::strong(name));
}

/// "; 20.5 % of it is train.py:9".
QString biggestLine(const DeviceData& device)
{
    const model::DeviceSummary& summary = *device.summary;
    const model::GroupSum& biggest = summary.peak.groups.front();
    const QString share = text::strong(text::share(biggest.bytes, summary.peak.requestedBytes));
    const model::StackId stack = device.byLine->stackOf(biggest.group);
    if (!stack.valid())
        return tr("; %1 of it has no stack recorded").arg(share);
    const model::FrameId frame = model::userFrame(device.trace->recording(), stack);
    const QString name = text::utf8(frame.valid() ? model::frameShortLabel(device.trace->recording(), frame)
                                                  : device.byLine->label(biggest.group));
    return tr("; %1 of it is %2")
        .arg(share,
            text::linked(name.toHtmlEscaped(),
                text::LineLink{ device.byLine->label(biggest.group), summary.totals.requestedPeakEvent }));
}

} // namespace

QString memoryVerdict(
    const DeviceData& device, const model::GroupTable* groups, const model::LiveGroups& peakGroups)
{
    const model::DeviceSummary& summary = *device.summary;
    const model::Totals& totals = summary.totals;
    if (!summary.outOfMemory.empty() || device.trace->recording().refusal)
        return verdictHtml(summary.verdict, {});
    if (totals.requestedBytesPeak <= 0)
        return tr("No memory was requested on this device.");

    const bool flat = device.trace->eventCount() == 0;
    const QString peak = text::strong(text::bytes(totals.requestedBytesPeak));
    const QString when = text::link(text::event(totals.requestedPeakEvent), totals.requestedPeakEvent);
    QString all;
    if (flat)
        all = tr("%1 requested at the end").arg(peak);
    else if (totals.requestedPeakEvent < 0)
        all = tr("Peak %1 %2").arg(peak, when);
    else
        all = tr("Peak %1 at %2").arg(peak, when) + placeOf(device, totals.requestedPeakEvent);
    if (groups && !peakGroups.groups.empty())
        all += biggestGroup(*groups, peakGroups);
    else if (!summary.peak.groups.empty())
        all += biggestLine(device);
    if (summary.peak.beforeTraceBytes > 0 && !flat)
        all += tr(", %1 is older than the trace").arg(text::bytes(summary.peak.beforeTraceBytes));
    all += QStringLiteral(". ");
    // A file that ends early may tell of no segment.
    const std::int64_t reserved = summary.needs && summary.needs->atLeast ? summary.needs->bytes : 0;
    if (!totals.reservedKnown)
        all += tr("What is reserved is not told.");
    else if (flat)
        all += tr("Reserved: %1.").arg(text::strong(text::bytes(totals.reservedBytesEnd)));
    else if (reserved > totals.reservedBytesPeak)
        all += tr("Reserved: at least %1.").arg(text::strong(text::bytes(reserved)));
    else
        all += tr("Reserved peaks at %1.").arg(text::strong(text::bytes(totals.reservedBytesPeak)));
    return all;
}

} // namespace strata::views
