// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/thin.h"

#include "model/session/cut.h"
#include "model/timeline/clock.h"
#include "model/timeline/curve.h"
#include "model/trace/earlier_curves.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr EventIndex kStretches = 1'024; // of what goes at once

/// The first event of each device that is kept.
std::map<int, EventIndex> firstKept(const Session& session, std::int64_t events)
{
    std::int64_t all = 0;
    const DeviceTrace* busiest = nullptr;
    for (const DeviceTrace& trace : session.devices()) {
        all += trace.eventCount();
        if (!busiest || trace.eventCount() > busiest->eventCount())
            busiest = &trace;
    }
    const double share = all <= events ? 0 : 1 - static_cast<double>(events) / static_cast<double>(all);
    const auto shareOf = [&](const DeviceTrace& trace) {
        return static_cast<EventIndex>(share * static_cast<double>(trace.eventCount()));
    };
    std::map<int, EventIndex> first;
    if (!busiest)
        return first;
    const Clock theirs(*busiest);
    for (const DeviceTrace& trace : session.devices()) {
        const Clock clock(trace);
        first[trace.device()] = &trace != busiest && share > 0 && clock.hasTimes() && theirs.hasTimes()
            ? clock.eventAt(theirs.timeNs(shareOf(*busiest)) - 1) + 1
            : shareOf(trace);
    }
    return first;
}

void addCurves(const DeviceTrace& trace, EventIndex end, std::int64_t before, EarlierCurves& curves)
{
    const Curve requested(trace, CurveKind::Requested), reserved(trace, CurveKind::Reserved);
    const bool hasTimes = trace.events().hasTimes();
    const Clock clock(trace);
    const EventIndex length = std::max<EventIndex>((end + kStretches - 1) / kStretches, 1);
    for (EventIndex first = 0; first < end; first += length) {
        const EventIndex last = std::min(first + length, end) - 1;
        const CurveRange asked = requested.range(first, last), held = reserved.range(first, last);
        EarlierStretch stretch{ before + first, last - first + 1 };
        if (hasTimes) {
            stretch.firstNs = clock.timeNs(first);
            stretch.durationNs = clock.timeNs(last) - stretch.firstNs;
        }
        const auto atLeast0 = [](std::int64_t bytes) { return std::max<std::int64_t>(bytes, 0); };
        stretch.requestedMin = atLeast0(asked.min);
        stretch.requestedMax = atLeast0(asked.max);
        stretch.reservedMin = atLeast0(held.min);
        stretch.reservedMax = atLeast0(held.max);
        curves.add(trace.device(), stretch);
    }
}

} // namespace

SessionPart newestOf(const Session& session, std::int64_t events)
{
    SessionPart result;
    CutOptions options;
    options.tables = &result.tables;
    const std::map<int, EventIndex> first = firstKept(session, events);
    for (const DeviceTrace& trace : session.devices())
        options.spans[trace.device()] = { first.at(trace.device()), trace.eventCount() - 1 };
    result.recording = std::move(cut(session, options).recording);
    auto& curves = result.recording->parts.get<EarlierCurves>();
    for (const DeviceTrace& trace : session.devices()) {
        const EventIndex end = first.at(trace.device());
        const auto cuts = session.recording().cuts.find(trace.device());
        addCurves(trace, end, cuts == session.recording().cuts.end() ? 0 : cuts->second.before, curves);
        result.left[trace.device()] = static_cast<std::uint64_t>(end);
    }
    return result;
}

} // namespace strata::model
