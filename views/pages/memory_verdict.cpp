// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/memory_verdict.h"

#include "views/pages/summary_facts.h"
#include "views/style/texts.h"

#include <QCoreApplication>

namespace strata::views {

namespace {

QString tr(const char* text)
{
    return QCoreApplication::translate("MemoryVerdict", text);
}

QString strong(const QString& text)
{
    return QStringLiteral("<b>%1</b>").arg(text.toHtmlEscaped());
}

QString link(const QString& text, model::EventIndex event)
{
    return QStringLiteral("<a href=\"event:%1\" style=\"text-decoration:none\">%2</a>")
        .arg(event)
        .arg(text.toHtmlEscaped());
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
    return tr(" in %1").arg(
        QString::fromStdString(model::frameShortLabel(device.trace->recording(), frame)).toHtmlEscaped());
}

} // namespace

QString memoryVerdict(const DeviceData& device)
{
    const model::DeviceSummary& summary = *device.summary;
    const model::Totals& totals = summary.totals;
    if (!summary.outOfMemory.empty() || device.trace->recording().refusal)
        return verdictHtml(summary.verdict, {});
    if (totals.requestedBytesPeak <= 0)
        return tr("No memory was requested on this device.");

    const bool flat = device.trace->eventCount() == 0;
    const QString peak = strong(text::bytes(totals.requestedBytesPeak));
    const QString when = link(text::event(totals.requestedPeakEvent), totals.requestedPeakEvent);
    QString text;
    if (flat)
        text = tr("%1 requested at the end").arg(peak);
    else if (totals.requestedPeakEvent < 0)
        text = tr("Peak %1 %2").arg(peak, when);
    else
        text = tr("Peak %1 at %2").arg(peak, when) + placeOf(device, totals.requestedPeakEvent);
    if (!summary.peak.groups.empty()) {
        const model::GroupSum& biggest = summary.peak.groups.front();
        const QString share = strong(text::share(biggest.bytes, summary.peak.requestedBytes));
        text += device.byLine->stackOf(biggest.group).valid()
            ? tr("; %1 of it is %2")
                  .arg(share, QString::fromStdString(device.byLine->label(biggest.group)).toHtmlEscaped())
            : tr("; %1 of it has no stack recorded").arg(share);
    }
    if (summary.peak.beforeTraceBytes > 0 && !flat)
        text += tr(", %1 is older than the trace").arg(text::bytes(summary.peak.beforeTraceBytes));
    text += QStringLiteral(". ");
    text += flat ? tr("Reserved: %1.").arg(strong(text::bytes(totals.reservedBytesEnd)))
                 : tr("Reserved peaks at %1.").arg(strong(text::bytes(totals.reservedBytesPeak)));
    return text;
}

std::optional<model::EventIndex> eventOfLink(const QString& link)
{
    constexpr QLatin1String kScheme("event:");
    if (!link.startsWith(kScheme))
        return std::nullopt;
    bool ok = false;
    const qlonglong event = link.mid(kScheme.size()).toLongLong(&ok);
    return ok ? std::optional<model::EventIndex>(event) : std::nullopt;
}

} // namespace strata::views
