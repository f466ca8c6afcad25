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
    {
        const auto [ticks, ns] = readBoth();
        m_ticks = ticks;
        m_ns = m_fromNs = ns;
        m_fromTicks = ticks;
    }

    void read()
    {
        const auto [ticks, ns] = readBoth();
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
    /// Whether that is no further from the last reading than so many nanoseconds. Any ticks.
    [[nodiscard]] bool isWithin(std::uint64_t ticks, std::int64_t ns) const
    {
        const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - m_ticks));
        return since * m_nsATick < static_cast<double>(ns) && -since * m_nsATick < static_cast<double>(ns);
    }
    [[nodiscard]] bool hasSlope() const { return m_nsATick > 0; }

private:
    struct Reading {
        std::uint64_t ticks;
        std::int64_t ns;
    };

    /// Both clocks at one instant: a thread may be put aside between two of them, so the closest of a few.
    [[nodiscard]] Reading readBoth() const
    {
        constexpr int kTries = 8;
        Reading best{};
        std::uint64_t closest = UINT64_MAX;
        for (int i = 0; i < kTries; ++i) {
            const std::uint64_t before = m_counter();
            const std::int64_t ns = nowNs();
            const std::uint64_t width = m_counter() - before;
            if (width < closest) {
                closest = width;
                best = { before + width / 2, ns };
            }
        }
        return best;
    }

    std::uint64_t (*m_counter)() noexcept;
    std::uint64_t m_ticks = 0; // of the last reading
    std::int64_t m_ns = 0;
    std::uint64_t m_fromTicks = 0; // of the one before
    std::int64_t m_fromNs = 0;
    double m_nsATick = 0;
};

} // namespace strata::agent
