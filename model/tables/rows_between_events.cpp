// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/rows_between_events.h"

#include "model/timeline/clock.h"

#include <algorithm>
#include <utility>

namespace strata::model {

std::string_view RowBetweenEvents::kind() const
{
    if (call)
        return callName(call->kind);
    switch (wire::roleOf(annotation->kind)) {
    case wire::AnnotationRole::Begins:
        return "begin";
    case wire::AnnotationRole::Ends:
        return "end";
    case wire::AnnotationRole::Moment:
        break;
    }
    return "mark";
}

std::vector<RowBetweenEvents> rowsBetweenEvents(const DeviceTrace& trace, EventIndex from, EventIndex to)
{
    const Recording& recording = trace.recording();
    std::vector<RowBetweenEvents> rows;
    const auto add = [&](EventIndex after, const Annotation* annotation, const AllocatorCall* call) {
        if (after >= from - 1 && after <= to)
            rows.push_back({ &recording, after, annotation, call });
    };
    if (trace.events().hasTimes()) {
        const Clock clock(trace);
        for (const Annotation& row : recording.annotations)
            if (row.device < 0 || row.device == trace.device())
                add(clock.eventAt(row.timeNs), &row, nullptr);
    }
    for (const AllocatorCall& call : AllocatorCalls::of(recording, trace.device()))
        add(call.event - 1, nullptr, &call);
    std::ranges::stable_sort(
        rows, {}, [](const RowBetweenEvents& row) { return std::pair(row.after, row.timeNs()); });
    return rows;
}

} // namespace strata::model
