// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/document_texts.h"

#include "model/timeline/reserved_at.h"
#include "model/trace/work.h"

#include "views/models/document/group_colours.h"

#include <QCoreApplication>

namespace strata::views::text {

namespace {

struct Texts {
    Q_DECLARE_TR_FUNCTIONS(Texts)
};

} // namespace

bool holdsWork(const Document& document)
{
    const model::Recording* const recording = document.recording();
    return recording && recording->parts.find<model::Work>();
}

bool lacksSegments(const Document& document)
{
    const model::Recording* const recording = document.recording();
    const auto device = document.device();
    const model::DeviceRecording* const found
        = recording && device ? recording->find(device->trace->device()) : nullptr;
    return found && found->profiled;
}

QString withoutDevices(const Document& document)
{
    return holdsWork(document) ? Texts::tr("This trace tells what ran when, not what the allocator did")
                               : Texts::tr("This file holds no memory of a GPU");
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
        return { Texts::tr("Only the summary could be loaded"), said(document.error().what) };
    default:
        return { Texts::tr("Still loading"),
            Texts::tr("The summary is there already; this page follows once the events are read.") };
    }
}

QString groupsAbsence(const Document& document, const DeviceData& device, model::Grouping grouping)
{
    if (!model::infoOf(grouping).ofLabels)
        return {};
    const auto groups = device.groups(grouping);
    if (!groups && device.training && device.training->complete)
        return said(device.training->refusal);
    if (!groups)
        return document.analysing() ? Texts::tr("Steps, categories and modules are still being looked for")
                                    : Texts::tr("Nobody looked for categories and modules yet");
    const bool nothingTold = groups->count() == 0 || (groups->count() == 1 && namesNothing(*groups, 0));
    return nothingTold && grouping == model::Grouping::Module
        ? Texts::tr("The recording names no modules: \"strata record\" does")
        : QString();
}

QString instant(const DeviceData& device, model::EventIndex event)
{
    return instant(device.timeline->clock(), event);
}

QString selection(const DeviceData& device, const EventRange& range)
{
    const model::DeviceTimeline& timeline = *device.timeline;
    if (range.isInstant()) {
        const QString when = instant(device, range.first);
        const QString requested = bytes(timeline.requested().at(range.first));
        const auto reserved = model::reservedAt(timeline, range.first);
        return reserved ? Texts::tr("%1: requested %2, reserved %3").arg(when, requested, bytes(*reserved))
                        : Texts::tr("%1: requested %2").arg(when, requested);
    }
    const model::CurveRange peak = timeline.requested().range(range.first, range.last);
    const QString length = timeline.clock().hasTimes()
        ? duration(timeline.clock().timeNs(range.last) - timeline.clock().timeNs(range.first))
        : Texts::tr("%n event(s)", nullptr, static_cast<int>(range.last - range.first));
    return Texts::tr("events %1 to %2, %3: peak %4 at event %5")
        .arg(count(range.first), count(range.last), length, bytes(peak.max), count(peak.maxEvent));
}

} // namespace strata::views::text
