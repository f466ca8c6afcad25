// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/range_peak.h"

#include "model/analysis/summary/summary.h"

namespace strata::model {

EventIndex instantWithin(const DeviceTimeline& timeline, EventIndex first, EventIndex last)
{
    return first == last ? last : timeline.requested().range(first, last).maxEvent;
}

RangePeak peakWithin(const DeviceTrace& trace, const GroupTable& table, EventIndex first, EventIndex last)
{
    const CurveRange requested = Curve(trace, CurveKind::Requested).range(first, last);
    RangePeak peak{ first, last, requested.max, {}, {}, groupsAt(trace, table, requested.maxEvent),
        timeOf(trace, requested.maxEvent) };
    if (trace.totals().reservedKnown) {
        const CurveRange reserved = Curve(trace, CurveKind::Reserved).range(first, last);
        peak.reservedBytes = reserved.max;
        peak.reservedEvent = reserved.maxEvent;
    }
    return peak;
}

} // namespace strata::model
