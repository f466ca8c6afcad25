// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/clock.h"

namespace strata::model {

Clock::Clock(const DeviceTrace& trace)
    : m_trace(&trace)
    , m_events(trace.eventCount())
    , m_hasTimes(m_events > 0 && trace.events().timeNs.size() >= static_cast<std::size_t>(m_events))
{
    if (!m_hasTimes)
        return;
    const Column<std::int64_t>& times = trace.events().timeNs;
    const auto count = static_cast<std::size_t>(m_events);
    std::int64_t latest = times[0];
    for (std::size_t i = 0; i < count;) {
        const auto run = times.run(i).first(std::min(times.run(i).size(), count - i));
        for (const std::int64_t time : run) {
            if (time >= latest) {
                latest = time;
            } else {
                const auto event = static_cast<std::uint32_t>(i);
                if (!m_held.empty() && m_held.back().last + 1 == event && m_held.back().timeNs == latest)
                    m_held.back().last = event;
                else
                    m_held.push_back({ event, event, latest });
            }
            ++i;
        }
    }
    m_held.shrink_to_fit();
}

std::int64_t Clock::startNs() const
{
    return m_hasTimes ? m_trace->events().timeNs[0] : 0;
}

std::int64_t Clock::endNs() const
{
    return timeNs(m_events - 1);
}

std::int64_t Clock::heldTime(EventIndex event) const
{
    const auto next = std::upper_bound(m_held.begin(), m_held.end(), event,
        [](EventIndex wanted, const Held& held) { return wanted < static_cast<EventIndex>(held.first); });
    if (next != m_held.begin() && event <= static_cast<EventIndex>((next - 1)->last))
        return (next - 1)->timeNs;
    return m_trace->events().timeNs[static_cast<std::size_t>(event)];
}

EventIndex Clock::eventAt(std::int64_t time) const
{
    if (!m_hasTimes)
        return -1;
    EventIndex first = 0;
    EventIndex count = m_events;
    while (count > 0) { // the first event later than `time`
        const EventIndex half = count / 2;
        if (timeNs(first + half) <= time) {
            first += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return first - 1;
}

} // namespace strata::model
