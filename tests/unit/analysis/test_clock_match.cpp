// SPDX-License-Identifier: GPL-3.0-or-later
// How two clocks lie to each other: found among repetitions and losses, refused where nothing tells.
#include "model/analysis/work/join/clock_match.h"

#include <gtest/gtest.h>
#include <random>

namespace strata::model {

namespace {

constexpr std::int64_t kOffsetNs = 1'700'000'000'123'456'789;

/// Steps of the same 20 keys, each with its own times between them.
std::vector<ClockMark> stepsOf(int steps, std::uint32_t seed)
{
    std::mt19937 random(seed);
    std::uniform_int_distribution<std::int64_t> gap(20'000, 2'000'000);
    std::vector<ClockMark> marks;
    std::int64_t timeNs = 0;
    for (int step = 0; step < steps; ++step)
        for (std::uint64_t key = 0; key < 20; ++key)
            marks.push_back({ key, timeNs += gap(random) });
    return marks;
}

/// Seen on another clock, a little later each time.
std::vector<ClockMark> onOtherClock(std::vector<ClockMark> marks, std::int64_t mostLateNs)
{
    std::mt19937 random(7);
    std::uniform_int_distribution<std::int64_t> late(0, mostLateNs);
    for (ClockMark& mark : marks)
        mark.timeNs += kOffsetNs + late(random);
    return marks;
}

} // namespace

TEST(ClockMatch, IsFoundAmongRepetitions)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const std::vector<ClockMark> other = stepsOf(30, seed);
        std::vector<ClockMark> one(other.begin() + 200, other.begin() + 360); // eight steps in the middle
        const auto match = matchClocks(onOtherClock(one, 10'000), other);
        ASSERT_TRUE(match) << seed;
        EXPECT_EQ(match->matches, 160) << seed;
        EXPECT_EQ(match->among, 160) << seed;
        EXPECT_GE(match->offsetNs, kOffsetNs);
        EXPECT_LE(match->offsetNs, kOffsetNs + 10'000);
        EXPECT_LE(match->errorNs, 10'000);
        EXPECT_GT(match->errorNs, 0);
    }
}

TEST(ClockMatch, ToleratesWhatOneOfThemMissed)
{
    const std::vector<ClockMark> all = stepsOf(30, 3);
    std::vector<ClockMark> one, other;
    std::mt19937 random(5);
    for (const ClockMark& mark : all) {
        if (random() % 3 != 0)
            other.push_back(mark);
        if (random() % 4 != 0)
            one.push_back(mark);
    }
    std::ranges::shuffle(one, random);
    const auto match = matchClocks(onOtherClock(one, 1'000), other);
    ASSERT_TRUE(match);
    EXPECT_NEAR(static_cast<double>(match->offsetNs - kOffsetNs), 500, 500);
    EXPECT_LT(match->matches, match->among);
}

TEST(ClockMatch, CountsOnlyWhatLiesWithinTheOther)
{
    const std::vector<ClockMark> all = stepsOf(30, 4);
    const std::vector<ClockMark> other(all.begin() + 300, all.end()); // its ring dropped the first half
    const auto match = matchClocks(onOtherClock(all, 1'000), other);
    ASSERT_TRUE(match);
    EXPECT_EQ(match->matches, 300);
    EXPECT_EQ(match->among, 300);
}

TEST(ClockMatch, IsRefusedOfAnotherRun)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed)
        EXPECT_FALSE(matchClocks(onOtherClock(stepsOf(8, seed), 1'000), stepsOf(30, seed + 100))) << seed;
}

TEST(ClockMatch, IsRefusedOfAnotherRunAtTheSamePace)
{
    for (std::uint32_t seed = 1; seed <= 20; ++seed) {
        const std::vector<ClockMark> one = stepsOf(8, seed);
        std::vector<ClockMark> other = one; // each call of it as far off as two runs differ
        std::mt19937 random(seed);
        std::uniform_int_distribution<std::int64_t> off(-100'000, 100'000);
        for (ClockMark& mark : other)
            mark.timeNs += off(random);
        EXPECT_FALSE(matchClocks(one, other)) << seed;
        EXPECT_TRUE(matchClocks(one, one)) << seed;
    }
}

TEST(ClockMatch, IsRefusedWhereTwoPlacesAreAsGood)
{
    std::vector<ClockMark> step, twice;
    for (std::uint64_t key = 0; key < 20; ++key) {
        step.push_back({ key, static_cast<std::int64_t>(key) * 1'000'000 });
        twice.push_back(step.back());
        twice.push_back({ key, step.back().timeNs + 100'000'000 });
    }
    EXPECT_FALSE(matchClocks(step, twice));
    EXPECT_TRUE(matchClocks(step, step));
}

TEST(ClockMatch, IsRefusedOfNothingAndOfLittle)
{
    EXPECT_FALSE(matchClocks({}, {}));
    EXPECT_FALSE(matchClocks(stepsOf(1, 1), {}));
    std::vector<ClockMark> few{ { 1, 5 }, { 2, 9 }, { 3, INT64_MAX }, { 4, INT64_MIN } };
    EXPECT_FALSE(matchClocks(few, few));
}

} // namespace strata::model
