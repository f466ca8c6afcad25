// SPDX-License-Identifier: Apache-2.0
#include "capture/simgpu/machine/stream_clocks.h"

#include <algorithm>

namespace strata::simgpu {

namespace {

constexpr std::uint32_t kDefaultNumber = 7;
constexpr std::uint32_t kFirstNumber = 13;

} // namespace

StreamClocks::Clock& StreamClocks::clockOf(const Lane& lane)
{
    const Key key = keyOf(lane);
    const auto [entry, isNew] = m_clocks.try_emplace(key);
    Clock& clock = entry->second;
    if (isNew) {
        clock.blocking = lane.blocking;
        clock.number = key.second == 0 ? kDefaultNumber : kFirstNumber + m_numbers[key.first]++;
    }
    return clock;
}

std::uint64_t StreamClocks::turnOf(const Lane& lane) const
{
    const Key key = keyOf(lane);
    std::uint64_t turn = 0;
    if (key.second != 0) {
        const auto legacy = m_clocks.find({ key.first, 0 });
        return lane.blocking && legacy != m_clocks.end() ? legacy->second.busyUntil : 0;
    }
    for (auto each = m_clocks.lower_bound(key); each != m_clocks.end() && each->first.first == key.first;
         ++each) {
        if (each->second.blocking)
            turn = std::max(turn, each->second.busyUntil);
    }
    return turn;
}

StreamClocks::Span StreamClocks::occupy(const Lane& lane, std::uint64_t earliest, std::uint64_t length)
{
    Clock& clock = clockOf(lane);
    const std::uint64_t start = std::max({ earliest, clock.busyUntil, turnOf(lane) });
    clock.busyUntil = start + length;
    return { start, clock.busyUntil };
}

void StreamClocks::wait(const Lane& lane, std::uint64_t until)
{
    Clock& clock = clockOf(lane);
    clock.busyUntil = std::max(clock.busyUntil, until);
}

std::uint64_t StreamClocks::until(const Lane& lane) const
{
    const auto clock = m_clocks.find(keyOf(lane));
    const std::uint64_t own = clock == m_clocks.end() ? 0 : clock->second.busyUntil;
    return keyOf(lane).second == 0 ? std::max(own, turnOf(lane)) : own;
}

std::uint64_t StreamClocks::untilAll(int device) const
{
    std::uint64_t last = 0;
    for (const auto& [key, clock] : m_clocks) {
        if (key.first == device)
            last = std::max(last, clock.busyUntil);
    }
    return last;
}

std::uint32_t StreamClocks::numberOf(const Lane& lane)
{
    return clockOf(lane).number;
}

void StreamClocks::restart()
{
    for (auto& [key, clock] : m_clocks)
        clock.busyUntil = 0;
}

} // namespace strata::simgpu
