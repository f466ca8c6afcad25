// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>

namespace strata::agent {

/// Nanoseconds since the epoch.
inline std::int64_t nowNs() noexcept
{
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{ now.tv_sec } * 1'000'000'000 + now.tv_nsec;
}

/// Turns a counter of ticks into nanoseconds since the epoch: a straight line between the last two times that
/// both clocks were read. Read it after the events that are to be turned were taken, so that they lie
/// between. One thread.
class CounterClock {
public:
    explicit CounterClock(std::uint64_t (*counter)() noexcept)
        : m_counter(counter)
        , m_ticks(counter())
        , m_ns(nowNs())
    {
    }

    void read()
    {
        const std::uint64_t ticks = m_counter();
        const std::int64_t ns = nowNs();
        // Too short a time gives no slope.
        constexpr std::int64_t kShortest = 1'000'000;
        if (ns - m_ns < kShortest || ticks <= m_ticks)
            return;
        m_nsATick = static_cast<double>(ns - m_ns) / static_cast<double>(ticks - m_ticks);
        m_fromTicks = m_ticks;
        m_fromNs = m_ns;
        m_ticks = ticks;
        m_ns = ns;
    }

    /// Before the first slope is known, the time of the first reading.
    [[nodiscard]] std::int64_t toNs(std::uint64_t ticks) const
    {
        const auto since = static_cast<std::int64_t>(ticks - m_fromTicks);
        return m_fromNs + static_cast<std::int64_t>(static_cast<double>(since) * m_nsATick);
    }
    [[nodiscard]] bool hasSlope() const { return m_nsATick > 0; }

private:
    std::uint64_t (*m_counter)() noexcept;
    std::uint64_t m_ticks; // of the last reading
    std::int64_t m_ns;
    std::uint64_t m_fromTicks = m_ticks; // of the one before
    std::int64_t m_fromNs = m_ns;
    double m_nsATick = 0;
};

} // namespace strata::agent
