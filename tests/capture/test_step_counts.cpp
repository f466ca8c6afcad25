// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/dryrun/step_counts.h"

#include <gtest/gtest.h>

using namespace strata::dryrun;
using namespace std::chrono_literals;

namespace {

/// Things that have an address, and a clock that goes when it is told to.
class StepCountsTest : public testing::Test {
protected:
    int one = 0, other = 0; // optimizers
    int main = 0, worker = 0; // threads
    StepCounts::Clock::time_point now{ 100s };

    bool begins(StepCounts& counts, const int& optimizer, const int& thread)
    {
        now += 10ms;
        return counts.begins(&optimizer, &thread, now);
    }
};

TEST_F(StepCountsTest, TheStepBeyondIsNotBegun)
{
    StepCounts counts(2);
    EXPECT_EQ(counts.source(), StepSource::None);
    EXPECT_TRUE(begins(counts, one, main));
    EXPECT_TRUE(begins(counts, one, main));
    EXPECT_EQ(counts.steps(), 2);
    EXPECT_FALSE(begins(counts, one, main));
    EXPECT_FALSE(begins(counts, one, main));
    EXPECT_EQ(counts.steps(), 2);
    EXPECT_EQ(counts.source(), StepSource::Optimizer);
}

TEST_F(StepCountsTest, AllOptimizersTogetherMakeMore)
{
    StepCounts counts(2);
    for (int i = 0; i < 2; ++i) {
        EXPECT_TRUE(begins(counts, one, main));
        EXPECT_TRUE(begins(counts, other, main));
    }
    EXPECT_FALSE(begins(counts, one, main)); // is not begun, and not counted
    EXPECT_EQ(counts.steps(), 2);
    EXPECT_EQ(counts.allSteps(), 4);
}

TEST_F(StepCountsTest, WithoutANumberNothingEnds)
{
    StepCounts counts(0);
    for (int i = 0; i < 1000; ++i)
        EXPECT_TRUE(begins(counts, one, main));
    EXPECT_EQ(counts.steps(), 1000);
}

TEST_F(StepCountsTest, EachOptimizerForItself)
{
    StepCounts counts(2);
    for (const int* optimizer : { &one, &other, &one, &other })
        EXPECT_TRUE(begins(counts, *optimizer, main));
    EXPECT_EQ(counts.steps(), 2);
    counts.made(&one, &main, now); // at the address of the one before
    EXPECT_TRUE(begins(counts, one, main));
    EXPECT_FALSE(begins(counts, other, main));
}

TEST_F(StepCountsTest, ARangeIsAStepOfAllOptimizersInIt)
{
    StepCounts counts(2);
    for (int i = 0; i < 2; ++i) {
        counts.rangeBegins(&main);
        counts.rangeBegins(&main); // within
        EXPECT_TRUE(begins(counts, one, main));
        EXPECT_TRUE(begins(counts, one, main));
        EXPECT_TRUE(begins(counts, other, main));
        EXPECT_TRUE(counts.rangeEnds(&main, now));
        EXPECT_TRUE(begins(counts, other, main));
        EXPECT_TRUE(counts.rangeEnds(&main, now));
        EXPECT_EQ(counts.steps(), i + 1);
    }
    EXPECT_EQ(counts.source(), StepSource::Range);
    counts.rangeBegins(&main);
    EXPECT_FALSE(begins(counts, one, main));
}

TEST_F(StepCountsTest, ARangeWithoutOptimizerCountsAtItsEnd)
{
    StepCounts counts(1);
    EXPECT_TRUE(counts.rangeEnds(&main, now)); // of a range that began before anybody looked
    counts.rangeBegins(&main);
    EXPECT_EQ(counts.steps(), 0);
    EXPECT_TRUE(counts.rangeEnds(&main, now));
    EXPECT_EQ(counts.steps(), 1);
    counts.rangeBegins(&main);
    EXPECT_FALSE(counts.rangeEnds(&main, now));
}

TEST_F(StepCountsTest, OptimizersOfOtherThreadsAreInNoRange)
{
    StepCounts counts(1);
    counts.rangeBegins(&main);
    EXPECT_TRUE(begins(counts, one, worker));
    EXPECT_FALSE(begins(counts, one, worker));
    EXPECT_EQ(counts.source(), StepSource::Optimizer);
    EXPECT_TRUE(counts.rangeEnds(&main, now));
}

TEST_F(StepCountsTest, OneThreadWaitsForNobody)
{
    StepCounts counts(1);
    counts.made(&one, &main, now);
    counts.made(&other, &main, now);
    EXPECT_TRUE(begins(counts, one, main));
    EXPECT_TRUE(begins(counts, other, main));
    EXPECT_FALSE(begins(counts, one, main));
    counts.hold(&main);
    EXPECT_FALSE(counts.waitsUntil(&main));
}

TEST_F(StepCountsTest, TheFirstWaitsForTheOthers)
{
    StepCounts counts(1);
    EXPECT_TRUE(begins(counts, one, main));
    EXPECT_TRUE(begins(counts, other, worker));
    const auto last = now;
    EXPECT_FALSE(begins(counts, one, main));
    counts.hold(&main);
    EXPECT_EQ(counts.waitsUntil(&main), last + StepCounts::kPatience);
    EXPECT_FALSE(begins(counts, other, worker));
    counts.hold(&worker);
    EXPECT_FALSE(counts.waitsUntil(&worker));
    EXPECT_FALSE(counts.waitsUntil(&main));
}

TEST_F(StepCountsTest, PatienceGoesByTheLongestStep)
{
    StepCounts counts(9);
    EXPECT_TRUE(begins(counts, one, main));
    EXPECT_TRUE(begins(counts, other, worker));
    now += 20s - 10ms;
    EXPECT_TRUE(begins(counts, other, worker));
    EXPECT_TRUE(begins(counts, other, worker));
    EXPECT_EQ(counts.waitsUntil(&main), now + 60s);
}

TEST_F(StepCountsTest, ANewOptimizerHasTimeForItsFirstStep)
{
    StepCounts counts(1);
    counts.made(&other, &worker, now);
    EXPECT_EQ(counts.waitsUntil(&main), now + StepCounts::kFirstPatience);
    EXPECT_FALSE(counts.waitsUntil(&worker));
}

TEST_F(StepCountsTest, NobodyWaitsForAThreadThatHasEnded)
{
    StepCounts counts(3);
    EXPECT_TRUE(begins(counts, one, main));
    EXPECT_TRUE(begins(counts, other, worker));
    counts.rangeBegins(&worker);
    EXPECT_TRUE(counts.rangeEnds(&worker, now));
    EXPECT_TRUE(counts.waitsUntil(&main));
    counts.forget(&worker);
    EXPECT_FALSE(counts.waitsUntil(&main));
    EXPECT_TRUE(begins(counts, other, main)); // handed on
    EXPECT_EQ(counts.steps(), 2);
}

TEST_F(StepCountsTest, TrainingWithoutStepsIsNoticed)
{
    StepCounts counts(0);
    EXPECT_FALSE(counts.zeroes(&one));
    EXPECT_FALSE(counts.zeroes(&other));
    EXPECT_FALSE(counts.zeroes(&one));
    EXPECT_TRUE(counts.zeroes(&one));
    EXPECT_TRUE(begins(counts, other, main));
    EXPECT_FALSE(counts.zeroes(&one));
}

} // namespace
