// SPDX-License-Identifier: GPL-3.0-or-later
// How blocks stay, drawn: a line for each boundary at which something is born, '#' for each boundary it is
// alive at.
#include "model/analysis/training/leaks/leak_shape.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace strata::model {

namespace {

constexpr std::uint32_t kSteps = 24;

/// `gone(step)`: when what is born in a step ends; kNever. `bytes(step)` of it; 0: nothing is born.
template <class Gone, class Bytes>
LeakShape shape(const Gone& gone, const Bytes& bytes, std::uint32_t warmup = 3)
{
    std::vector<BlockStay> stays;
    for (std::uint32_t step = 0; step < kSteps; ++step)
        if (const std::int64_t size = bytes(step); size > 0)
            stays.push_back({ .born = step,
                .gone = std::min<std::uint32_t>(gone(step), BlockStay::kNever),
                .requestedBytes = size,
                .allocatedBytes = (size + 511) / 512 * 512 });
    return shapeOf(stays, warmup, kSteps);
}

const auto kAlways = [](std::uint32_t) { return std::int64_t{ 100 }; };
const auto kNever = [](std::uint32_t) { return BlockStay::kNever; };

using Kind = LeakShape::Kind;
using Doubt = LeakShape::Doubt;

} // namespace

TEST(LeakShape, WhatStaysOfEachStepIsALeak)
{
    const LeakShape found = shape(kNever, kAlways);
    EXPECT_EQ(found.kind, Kind::Leak);
    EXPECT_EQ(found.firstBoundary, 3u);
    EXPECT_EQ(found.cohorts, kSteps - 3);
    EXPECT_DOUBLE_EQ(found.requestedPerStep, 100);
    EXPECT_DOUBLE_EQ(found.allocatedPerStep, 512);
    EXPECT_DOUBLE_EQ(found.blocksPerStep, 1);
}

TEST(LeakShape, WhatStaysOfEveryThirdStepIsOneOfAThirdOfTheRate)
{
    const LeakShape found
        = shape(kNever, [](std::uint32_t step) { return step % 3 == 1 ? std::int64_t{ 300 } : 0; });
    EXPECT_EQ(found.kind, Kind::Leak);
    EXPECT_DOUBLE_EQ(found.requestedPerStep, 100);
}

TEST(LeakShape, OneBlockAfterTheOtherGrows)
{
    const auto next = [](std::uint32_t step) { return step + 1 < kSteps ? step + 1 : BlockStay::kNever; };
    const LeakShape found = shape(next, [](std::uint32_t step) { return std::int64_t{ 1024 } * (step + 1); });
    EXPECT_EQ(found.kind, Kind::Grows);
    EXPECT_DOUBLE_EQ(found.requestedPerStep, 1024);
    EXPECT_DOUBLE_EQ(found.allocatedPerStep, 1024);
    EXPECT_DOUBLE_EQ(found.blocksPerStep, 0);
    EXPECT_EQ(shape(next, kAlways).kind, Kind::Steady);
    const LeakShape later = shape(next, [](std::uint32_t step) {
        return step < 6 ? std::int64_t{ 1 << 20 } : std::int64_t{ 1024 } * (step + 1);
    });
    EXPECT_EQ(later.kind, Kind::Grows);
    EXPECT_EQ(later.firstBoundary, 6u);
    EXPECT_DOUBLE_EQ(later.allocatedPerStep, 1024);
    const LeakShape stopped
        = shape(next, [](std::uint32_t step) { return std::int64_t{ 1024 } * (std::min(step, 16u) + 1); });
    EXPECT_EQ(stopped.kind, Kind::Stopped);
    EXPECT_EQ(stopped.quiet, 7u);
}

TEST(LeakShape, AHistoryIsAWindow)
{
    for (std::uint32_t length = 3; length < 18; ++length) {
        const LeakShape found = shape([&](std::uint32_t step) { return step + length; }, kAlways);
        EXPECT_EQ(found.kind, Kind::Window) << length;
        EXPECT_EQ(found.window, length);
    }
}

TEST(LeakShape, AHistoryThatJustBeganToDropIsUnclear)
{
    const LeakShape found = shape([](std::uint32_t step) { return step + kSteps - 4; }, kAlways);
    EXPECT_EQ(found.kind, Kind::Unclear);
    EXPECT_EQ(found.doubt, Doubt::WindowTooLong);
}

TEST(LeakShape, WhatEndsTogetherIsASawtooth)
{
    for (std::uint32_t every = 4; every < 12; ++every) {
        const LeakShape found
            = shape([&](std::uint32_t step) { return (step / every + 1) * every; }, kAlways);
        EXPECT_EQ(found.kind, Kind::Sawtooth) << every;
    }
}

TEST(LeakShape, AFilledCacheHasStopped)
{
    const LeakShape found
        = shape(kNever, [](std::uint32_t step) { return step < 14 ? std::int64_t{ 100 } : 0; });
    EXPECT_EQ(found.kind, Kind::Stopped);
    EXPECT_EQ(found.quiet, 10u);
}

TEST(LeakShape, DoubtsAreNamed)
{
    const auto doubt = [](auto bytes) { return shape(kNever, bytes).doubt; };
    EXPECT_EQ(doubt([](std::uint32_t step) { return step < 22 ? std::int64_t{ 100 } : 0; }), Doubt::Paused);
    EXPECT_EQ(
        doubt([](std::uint32_t step) { return step > 15 ? std::int64_t{ 100 } : 0; }), Doubt::LateStart);
    EXPECT_EQ(
        doubt([](std::uint32_t step) { return step % 6 == 4 ? std::int64_t{ 100 } : 0; }), Doubt::FewSteps);
    EXPECT_EQ(doubt([](std::uint32_t step) {
        return step < 12 || step == 15 || step == 20 ? std::int64_t{ 100 } : 0;
    }),
        Doubt::Slows);
}

TEST(LeakShape, BlocksThatWaitAreNotLeaked)
{
    std::vector<BlockStay> stays;
    for (std::uint32_t step = 0; step < kSteps; ++step)
        stays.push_back({ .born = step, .waits = step, .requestedBytes = 512, .allocatedBytes = 512 });
    EXPECT_EQ(shapeOf(stays, 3, kSteps).kind, Kind::Waits);
}

TEST(LeakShape, SlopeAndTrendAreThoseOfTheDefinition)
{
    const std::vector<double> series{ 1, 4, 2, 8, 5, 7 };
    std::vector<double> slopes;
    for (std::size_t i = 0; i < series.size(); ++i)
        for (std::size_t j = i + 1; j < series.size(); ++j)
            slopes.push_back((series[j] - series[i]) / static_cast<double>(j - i));
    std::ranges::sort(slopes);
    EXPECT_DOUBLE_EQ(medianSlope(series), slopes[slopes.size() / 2]);
    EXPECT_NEAR(trendOf(series), (9 - 1) / std::sqrt(6 * 5 * 17 / 18.0), 1e-9); // 12 pairs rise, 3 fall
    EXPECT_DOUBLE_EQ(medianSlope(std::vector<double>{ 3 }), 0);
    EXPECT_DOUBLE_EQ(trendOf(std::vector<double>{ 3, 3, 3 }), 0);
    std::vector<double> line;
    for (int i = 0; i < 5000; ++i)
        line.push_back(7.0 * i);
    EXPECT_NEAR(medianSlope(line), 7, 0.01);
    EXPECT_TRUE(growsThroughout(line, 0));
}

TEST(StepSeries, AgreesWithAllOfItsValues)
{
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        std::mt19937 random(seed);
        std::vector<double> all(1 + random() % 40);
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] = i > 0 && random() % 3 != 0 ? all[i - 1] : static_cast<double>(random() % 5);
        const std::size_t first = random() % all.size(), count = random() % (all.size() - first) + 1;
        const std::span<const double> part = std::span(all).subspan(first, count);
        const StepSeries series = StepSeries(all).slice(first, count);
        std::size_t lastDrop = 0, quiet = 0;
        std::uint32_t rises = 0;
        double highest = part[0], drop = 0;
        ASSERT_EQ(series.size(), count);
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(series[i], part[i]);
            lastDrop = i > 0 && part[i] < part[i - 1] ? i : lastDrop;
            rises += i > 0 && part[i] > part[i - 1];
            highest = std::max(highest, part[i]);
            drop = std::max(drop, highest - part[i]);
        }
        while (quiet + 1 < count && part[count - 2 - quiet] >= part.back())
            ++quiet;
        EXPECT_EQ(series.lastDrop(), lastDrop) << "seed " << seed;
        EXPECT_EQ(series.quiet(), quiet) << "seed " << seed;
        EXPECT_EQ(series.rises(), rises) << "seed " << seed;
        EXPECT_EQ(series.deepestDrop(), std::pair(drop, highest)) << "seed " << seed;
    }
}

} // namespace strata::model
