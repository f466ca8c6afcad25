// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/selection.h"

namespace strata::model {

std::optional<TimeRange> timeOf(EventRange events, const Clock& clock)
{
    if (!clock.hasTimes())
        return std::nullopt;
    const auto when = [&](EventIndex event) { return clock.timeNs(event) - (event < 0 ? 1 : 0); };
    return TimeRange{ when(events.first), when(events.last) };
}

std::optional<EventRange> eventsAt(TimeRange time, bool instant, const Clock& clock)
{
    if (!clock.hasTimes())
        return std::nullopt;
    const EventIndex last = clock.eventAt(time.lastNs);
    const EventIndex first = instant ? last : clock.eventAt(time.firstNs - 1) + 1;
    return first <= last ? EventRange{ first, last } : EventRange{ last, last };
}

} // namespace strata::model
