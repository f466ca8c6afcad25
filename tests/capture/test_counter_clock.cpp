// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/counter_clock.h"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace strata::agent {

namespace {

int g_calls = 0;
int g_asideAt = 0; // the call behind which the thread is put aside, of each five

/// Three ticks a nanosecond.
std::uint64_t tripleTicks() noexcept
{
    return static_cast<std::uint64_t>(nowNs()) * 3;
}

std::uint64_t ticksThenAside() noexcept
{
    const std::uint64_t now = tripleTicks();
    if (++g_calls % 5 == g_asideAt)
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
    return now;
}

} // namespace

/// The system may put the sender aside at any point of a reading.
TEST(CounterClock, IsRightThoughTheThreadIsPutAsideBetweenTheClocks)
{
    for (g_asideAt = 0; g_asideAt < 5; ++g_asideAt) {
        g_calls = 0;
        CounterClock clock(ticksThenAside);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        const std::int64_t between = nowNs();
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        clock.read();
        ASSERT_TRUE(clock.hasSlope());
        constexpr std::int64_t kClose = 200'000;
        EXPECT_NEAR(clock.toNs(static_cast<std::uint64_t>(between) * 3), between, kClose) << g_asideAt;
    }
}

} // namespace strata::agent
