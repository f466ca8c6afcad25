// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/base/units.h"

#include <gtest/gtest.h>
#include <limits>

namespace strata::model {

TEST(Units, BytesHaveThreeSignificantFigures)
{
    EXPECT_EQ(formatBytes(0), "0 B");
    EXPECT_EQ(formatBytes(1023), "1023 B");
    EXPECT_EQ(formatBytes(1024), "1.00 KiB");
    EXPECT_EQ(formatBytes(1536), "1.50 KiB");
    EXPECT_EQ(formatBytes(512LL << 20), "512 MiB");
    EXPECT_EQ(formatBytes((11LL << 30)), "11.0 GiB");
    EXPECT_EQ(formatBytes(-(3LL << 20)), "-3.00 MiB");
    EXPECT_EQ(formatBytes(10234), "9.99 KiB");
    EXPECT_EQ(formatBytes(10236), "10.0 KiB");
    EXPECT_EQ(formatBytes((1LL << 20) - 1), "1.00 MiB");
    EXPECT_EQ(formatBytes(std::numeric_limits<std::int64_t>::max()), "8.00 EiB");
}

TEST(Units, CountsAreGrouped)
{
    EXPECT_EQ(formatCount(7), "7");
    EXPECT_EQ(formatCount(1000), "1,000");
    EXPECT_EQ(formatCount(-1234567), "-1,234,567");
    EXPECT_EQ(formatCount(-123), "-123");
    EXPECT_EQ(formatFigure(53.94), "53.9");
    EXPECT_EQ(formatFigure(8), "8");
    EXPECT_EQ(formatFigure(0.0485), "0.0485");
    EXPECT_EQ(formatFigure(999.4), "999");
    EXPECT_EQ(formatFigure(999.6), "1,000");
    EXPECT_EQ(formatFigure(16812.3), "16,812");
    EXPECT_EQ(formatFigure(1e30), "1e+30");
}

TEST(Units, SharesHaveOneDecimalAndNeverVanish)
{
    EXPECT_EQ(formatShare(1, 2), "50.0 %");
    EXPECT_EQ(formatShare(2, 3), "66.7 %");
    EXPECT_EQ(formatShare(1, 1000), "0.1 %");
    EXPECT_EQ(formatShare(1, 3000), "< 0.1 %");
    EXPECT_EQ(formatShare(7, 7), "100.0 %");
    EXPECT_EQ(formatShare(0, 1000), "0.0 %");
    EXPECT_EQ(formatShare(5, 0), "-");
}

TEST(Units, Flops)
{
    EXPECT_EQ(formatFlops(0), "0 FLOP");
    EXPECT_EQ(formatFlops(-1), "0 FLOP");
    EXPECT_EQ(formatFlops(999), "999 FLOP");
    EXPECT_EQ(formatFlops(999.9), "1.00 kFLOP");
    EXPECT_EQ(formatFlops(542e9), "542 GFLOP");
    EXPECT_EQ(formatFlops(7.154178e12), "7.15 TFLOP");
    EXPECT_EQ(formatFlops(3e22), "30000 EFLOP");
}

TEST(Units, Durations)
{
    EXPECT_EQ(formatDuration(7), "7 ns");
    EXPECT_EQ(formatDuration(3'200'000), "3.2 ms");
    EXPECT_EQ(formatDuration(12'384'000'000), "12.384 s");
}

TEST(Units, ParsesSizesAsPeopleWriteThem)
{
    EXPECT_EQ(parseBytes("70GiB"), 70LL << 30);
    EXPECT_EQ(parseBytes("70G"), 70LL << 30);
    EXPECT_EQ(parseBytes("512 MiB"), 512LL << 20);
    EXPECT_EQ(parseBytes("24GB"), 24'000'000'000LL);
    EXPECT_EQ(parseBytes("1073741824"), 1LL << 30);
    EXPECT_EQ(parseBytes("1.5k"), 1536);
    for (const char* bad : { "", "GiB", "-1", "1x", "1GiBs", "nan", "1e30GiB" })
        EXPECT_FALSE(parseBytes(bad)) << bad;
}

TEST(Units, ParsesAddresses)
{
    EXPECT_EQ(parseAddress("0x7f3a00000000"), 0x7f3a00000000U);
    EXPECT_EQ(parseAddress("0XfF"), 255U);
    EXPECT_EQ(parseAddress(formatAddress(std::numeric_limits<std::uint64_t>::max())),
        std::numeric_limits<std::uint64_t>::max());
    for (const char* bad : { "", "0", "0x", "x1", "ff", "0x1g", "0x1 ", "0x10000000000000000" })
        EXPECT_FALSE(parseAddress(bad)) << bad;
}

} // namespace strata::model
