// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/wrap.h"
#include "model/trace/device_trace.h"

#include <cstdint>

namespace strata::model {

/// What a device holds after an event that changed it, in bytes.
struct HeldMemory {
    EventIndex event = -1;
    std::int64_t timeNs = 0; ///< since the epoch
    std::int64_t change = 0; ///< of requested
    std::int64_t requested = 0, reserved = 0;
};

/// Calls see(HeldMemory) for every event that changes requested or reserved. Of a trace with times.
/// O(events).
template <class See> void followMemory(const DeviceTrace& trace, See&& see)
{
    HeldMemory held;
    held.requested = trace.totals().requestedBytesStart;
    held.reserved = trace.totals().reservedBytesStart;
    for (held.event = 0; held.event < trace.eventCount(); ++held.event) {
        const std::int64_t segments = trace.reservedDelta(held.event);
        held.change = trace.requestedDelta(held.event);
        if (held.change == 0 && segments == 0)
            continue;
        held.timeNs = trace.events().timeNs[static_cast<std::size_t>(held.event)];
        held.requested = wrapAdd(held.requested, held.change);
        held.reserved = wrapAdd(held.reserved, segments);
        see(static_cast<const HeldMemory&>(held));
    }
}

} // namespace strata::model
