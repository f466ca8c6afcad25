// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/clock.h"

#include <ranges>

namespace strata::model {

Clock::Clock(const DeviceTrace& trace)
    : m_trace(&trace)
{
    append();
}

Clock::Clock(const DeviceTrace& trace, const Clock& earlier)
    : Clock(earlier)
{
    m_trace = &trace;
    append();
}

void Clock::append()
{
    const Column<std::int64_t>& times = m_trace->events().timeNs;
    const auto first = static_cast<std::size_t>(m_events);
    m_events = m_trace->eventCount();
    const auto count = static_cast<std::size_t>(m_events);
    m_hasTimes = count > 0 && times.size() >= count;
    if (!m_hasTimes)
        return;
    if (first == 0)
        m_latest = times[0];
    for (std::size_t i = first; i < count;) {
        const auto run = times.run(i).first(std::min(times.run(i).size(), count - i));
        for (const std::int64_t time : run) {
            if (time >= m_latest) {
                m_latest = time;
            } else {
                const auto event = static_cast<std::uint32_t>(i);
                if (!m_held.empty() && m_held.back().last + 1 == event && m_held.back().timeNs == m_latest)
                    m_held.edit(m_held.size() - 1).last = event;
                else
                    m_held.push_back({ event, event, m_latest });
            }
            ++i;
        }
    }
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
    const auto rows = std::views::iota(std::size_t{ 0 }, m_held.size());
    const auto next = std::ranges::upper_bound(
        rows, event, {}, [this](std::size_t row) { return static_cast<EventIndex>(m_held[row].first); });
    if (next != rows.begin())
        if (const Held& held = m_held[*(next - 1)]; event <= static_cast<EventIndex>(held.last))
            return held.timeNs;
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
