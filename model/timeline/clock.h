// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <algorithm>
#include <cstdint>

namespace strata::model {

/// Turns event numbers of one device into times and back. Where the recorded times go backwards, the running
/// maximum stands for them, so that both directions are monotone. Keeps nothing but the stretches where the
/// two differ, and a pointer to the trace, which must outlive it. Immutable; O(log n).
class Clock {
public:
    explicit Clock(const DeviceTrace& trace);
    /// Of a trace that continues the one of `earlier`, for what the new events cost. One thread at a time
    /// goes on from a clock.
    Clock(const DeviceTrace& trace, const Clock& earlier);

    [[nodiscard]] EventIndex eventCount() const { return m_events; }
    [[nodiscard]] bool hasTimes() const { return m_hasTimes; }
    /// Whether the recorded times never go backwards, and so stand for themselves.
    [[nodiscard]] bool isMonotone() const { return m_held.empty(); }
    [[nodiscard]] std::int64_t startNs() const; ///< of the first event, since the epoch; 0 without times
    [[nodiscard]] std::int64_t endNs() const;
    /// -1 gives the start; clamped.
    [[nodiscard]] std::int64_t timeNs(EventIndex e) const
    {
        if (!m_hasTimes)
            return 0;
        const EventIndex event = std::clamp<EventIndex>(e, 0, m_events - 1);
        return m_held.empty() ? m_trace->events().timeNs[static_cast<std::size_t>(event)] : heldTime(event);
    }
    /// The last event at or before the time; -1 if there is none.
    [[nodiscard]] EventIndex eventAt(std::int64_t timeNs) const;

    [[nodiscard]] std::size_t bytesResident() const { return m_held.bytesResident(); }

private:
    /// Events first..last were recorded earlier than an event before them, which happened at `timeNs`.
    struct Held {
        std::uint32_t first, last;
        std::int64_t timeNs;
    };
    [[nodiscard]] std::int64_t heldTime(EventIndex event) const;
    void append();

    const DeviceTrace* m_trace;
    EventIndex m_events = 0;
    bool m_hasTimes = false;
    std::int64_t m_latest = 0; // of all events
    Column<Held, 10> m_held;
};

} // namespace strata::model
