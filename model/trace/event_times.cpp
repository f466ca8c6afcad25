// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/event_times.h"

#include <algorithm>

namespace strata::model {

std::optional<std::int64_t> timeOf(const DeviceTrace& trace, EventIndex event)
{
    const EventColumns& events = trace.events();
    if (!events.hasTimes() || event < 0)
        return std::nullopt;
    return events.timeNs[static_cast<std::size_t>(event)];
}

std::optional<std::int64_t> latestTimeOf(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    if (!events.hasTimes())
        return std::nullopt;
    std::int64_t latest = events.timeNs[0];
    for (std::size_t i = 0; i < events.timeNs.size();) {
        const auto run = events.timeNs.run(i);
        latest = std::max(latest, *std::ranges::max_element(run));
        i += run.size();
    }
    return latest;
}

} // namespace strata::model
