// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/ticks.h"

#include <QStringList>

#include <gtest/gtest.h>

using namespace strata::views;

namespace {

constexpr double kMiB = 1 << 20, kGiB = 1 << 30;

std::string labels(const std::vector<Tick>& ticks)
{
    QStringList texts;
    for (const Tick& tick : ticks)
        texts << tick.label;
    return texts.join(QStringLiteral(" | ")).toStdString();
}

} // namespace

TEST(Ticks, BytesAreRoundInTheUnitOfTheTop)
{
    EXPECT_EQ(labels(byteTicks({ 0, 8.6 * kGiB }, 6)), "0 GiB | 2 GiB | 4 GiB | 6 GiB | 8 GiB");
    EXPECT_EQ(labels(byteTicks({ 0, 1.7 * kGiB }, 5)), "0 GiB | 0.5 GiB | 1.0 GiB | 1.5 GiB");
    EXPECT_EQ(labels(byteTicks({ 0, 900 * kMiB }, 5)), "0 MiB | 200 MiB | 400 MiB | 600 MiB | 800 MiB");
    EXPECT_EQ(labels(byteTicks({ 0, 3 * 1024 }, 3)), "0 KiB | 1 KiB | 2 KiB | 3 KiB");
    EXPECT_EQ(labels(byteTicks({ 0, 600 }, 3)), "0 B | 200 B | 400 B | 600 B");
    EXPECT_EQ(labels(byteTicks({ 3.1 * kGiB, 3.2 * kGiB }, 5)),
        "3.10 GiB | 3.12 GiB | 3.14 GiB | 3.16 GiB | 3.18 GiB | 3.20 GiB");
}

TEST(Ticks, AScaleHasTwoAtLeast)
{
    EXPECT_EQ(labels(byteTicks({ 0, 460 * kMiB }, 2)), "0 MiB");
    EXPECT_EQ(labels(scaleTicks({ 0, 460 * kMiB }, 2)), "0 MiB | 200 MiB | 400 MiB");
    for (double top = 3; top < 1e12; top *= 1.01)
        EXPECT_GE(scaleTicks({ 0, top }, 2).size(), 2u) << top;
    EXPECT_EQ(scaleTicks({ 0, 8.6 * kGiB }, 6), byteTicks({ 0, 8.6 * kGiB }, 6));
}

TEST(Ticks, ADeepZoomGoesToFinerUnits)
{
    EXPECT_EQ(labels(byteTicks({ 3 * kGiB, 3 * kGiB + 4 * 1024 }, 4)),
        "3,145,728 KiB | 3,145,729 KiB | 3,145,730 KiB | 3,145,731 KiB | 3,145,732 KiB");
}

TEST(Ticks, EventsAreWholeAndInside)
{
    EXPECT_EQ(labels(eventTicks({ -1, 41'207 }, 5)), "0 | 10,000 | 20,000 | 30,000 | 40,000");
    EXPECT_EQ(labels(eventTicks({ 4'912, 4'918 }, 10)), "4,912 | 4,913 | 4,914 | 4,915 | 4,916 | 4,917");
    EXPECT_EQ(labels(eventTicks({ -1, 0 }, 5)), "");
    EXPECT_EQ(labels(eventTicks({ 0.2, 0.9 }, 5)), "");
}

TEST(Ticks, TimesHaveOneUnitAndTheDigitsOfTheirStep)
{
    EXPECT_EQ(labels(timeTicks({ 0, 2.1e9 }, 5)), "0 s | 0.5 s | 1.0 s | 1.5 s | 2.0 s");
    EXPECT_EQ(labels(timeTicks({ 12.3840e9, 12.3841e9 }, 4)), "12.38400 s | 12.38405 s | 12.38410 s");
    EXPECT_EQ(labels(timeTicks({ 0, 35e6 }, 4)), "0 ms | 10 ms | 20 ms | 30 ms");
    EXPECT_EQ(labels(timeTicks({ 0, 900 }, 3)), "0 ns | 500 ns");
}

TEST(Ticks, NeverMoreThanAskedForPlusOne)
{
    for (double top = 1; top < 1e13; top *= 1.7)
        for (int most = 1; most < 20; ++most) {
            EXPECT_LE(byteTicks({ 0, top }, most).size(), static_cast<std::size_t>(most + 1)) << top;
            EXPECT_LE(timeTicks({ 0, top }, most).size(), static_cast<std::size_t>(most + 1)) << top;
        }
    EXPECT_TRUE(byteTicks({ 5, 5 }, 4).empty());
    EXPECT_TRUE(byteTicks({ 0, 5 }, 0).empty());
}
