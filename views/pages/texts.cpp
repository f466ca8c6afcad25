// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/texts.h"

#include "model/base/shell.h"
#include "model/base/units.h"

#include <QCoreApplication>

namespace strata::views::text {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Texts)
};

} // namespace

QString bytes(std::int64_t bytes)
{
    return QString::fromStdString(model::formatBytes(bytes));
}

QString exactBytes(std::int64_t bytes)
{
    return QString::fromStdString(model::formatExactBytes(bytes));
}

QString count(std::int64_t count)
{
    return QString::fromStdString(model::formatCount(count));
}

QString duration(std::int64_t nanoseconds)
{
    return QString::fromStdString(model::formatDuration(nanoseconds));
}

QString address(std::uint64_t address)
{
    return QString::fromStdString(model::formatAddress(address));
}

QString file(std::string_view text)
{
    return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

QString shellQuoted(const QString& text)
{
    return QString::fromStdString(model::shellQuoted(text.toStdString()));
}

QString share(std::int64_t part, std::int64_t whole)
{
    if (whole <= 0)
        return {};
    const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
    if (part > 0 && percent < 0.05)
        return QStringLiteral("< 0.1 %");
    return QStringLiteral("%1 %").arg(percent, 0, 'f', 1);
}

QString time(const DeviceData& device, model::EventIndex event)
{
    const model::Clock& clock = device.timeline->clock();
    return clock.hasTimes() ? duration(clock.timeNs(event) - clock.startNs()) : QString();
}

QString event(const DeviceData& device, model::EventIndex event)
{
    const model::Clock& clock = device.timeline->clock();
    return text::event(
        event, clock.hasTimes() ? std::optional(clock.timeNs(event) - clock.startNs()) : std::nullopt);
}

QString event(model::EventIndex event, std::optional<std::int64_t> sinceStartNs)
{
    if (event < 0)
        return Texts::tr("before the first event");
    return sinceStartNs ? Texts::tr("event %1 at %2").arg(count(event), duration(*sinceStartNs))
                        : Texts::tr("event %1").arg(count(event));
}

Waiting waiting(const Document& document)
{
    if (!document.hasOutline() || document.device())
        return {};
    switch (document.state()) {
    case Document::State::Stopped:
        return { Texts::tr("Loading was cancelled"),
            Texts::tr("Only the summary of this file is here. Open the file again to see the rest.") };
    case Document::State::Failed:
        return { Texts::tr("Only the summary could be loaded"), file(document.error().what) };
    default:
        return { Texts::tr("Still loading"),
            Texts::tr("The summary is there already; this page follows once the events are read.") };
    }
}

QString selection(const DeviceData& device, const EventRange& range)
{
    const model::DeviceTimeline& timeline = *device.timeline;
    if (range.isInstant())
        return Texts::tr("%1: requested %2, reserved %3")
            .arg(event(device, range.first), bytes(timeline.requested().at(range.first)),
                bytes(timeline.reserved().at(range.first)));
    const model::CurveRange peak = timeline.requested().range(range.first, range.last);
    const QString length = timeline.clock().hasTimes()
        ? duration(timeline.clock().timeNs(range.last) - timeline.clock().timeNs(range.first))
        : Texts::tr("%n event(s)", nullptr, static_cast<int>(range.last - range.first));
    return Texts::tr("events %1 to %2, %3: peak %4 at event %5")
        .arg(count(range.first), count(range.last), length, bytes(peak.max), count(peak.maxEvent));
}

} // namespace strata::views::text
