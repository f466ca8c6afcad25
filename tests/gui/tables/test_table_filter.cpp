// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/table_filter.h"

#include <gtest/gtest.h>

#include <limits>

using strata::model::BlockFilter;
using strata::views::parseTableFilter;

namespace {

constexpr std::int64_t kMiB = 1 << 20;

BlockFilter parsed(const char* text)
{
    const auto result = parseTableFilter(QString::fromUtf8(text));
    EXPECT_TRUE(result.has_value()) << text;
    return result.value_or(BlockFilter{});
}

BlockFilter sizes(std::int64_t least, std::int64_t most)
{
    BlockFilter filter;
    filter.minBytes = least;
    filter.maxBytes = most;
    return filter;
}

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(TableFilter, NothingTypedKeepsAll)
{
    EXPECT_TRUE(parsed("").empty());
    EXPECT_TRUE(parsed("   ").empty());
}

TEST(TableFilter, ReadsSizes)
{
    EXPECT_EQ(parsed("> 1 MiB"), sizes(kMiB + 1, kMost));
    EXPECT_EQ(parsed(">1MiB"), sizes(kMiB + 1, kMost));
    EXPECT_EQ(parsed(">= 512"), sizes(512, kMost));
    EXPECT_EQ(parsed("<2GiB"), sizes(0, (std::int64_t{ 2 } << 30) - 1));
    EXPECT_EQ(parsed("<= 1.5 MiB"), sizes(0, kMiB * 3 / 2));
    EXPECT_EQ(parsed("= 20 MiB"), sizes(20 * kMiB, 20 * kMiB));
    EXPECT_EQ(parsed("1MiB..4MiB"), sizes(kMiB, 4 * kMiB));
    EXPECT_EQ(parsed("> 1 MiB < 4 MiB"), sizes(kMiB + 1, 4 * kMiB - 1));
    EXPECT_EQ(parsed("> 1,048,576"), sizes(kMiB + 1, kMost));
}

TEST(TableFilter, TheRestIsText)
{
    EXPECT_EQ(parsed("attention").text, "attention");
    EXPECT_EQ(parsed("  model.py   forward ").text, "model.py forward");
    EXPECT_EQ(parsed("0x7f3a00000200").text, "0x7f3a00000200");
    BlockFilter both = sizes(kMiB + 1, kMost);
    both.text = "attention layer";
    EXPECT_EQ(parsed("attention > 1 MiB layer"), both);
}

TEST(TableFilter, NamesThatLookLikeComparisonsAreText)
{
    EXPECT_EQ(parsed("<module>").text, "<module>");
    EXPECT_EQ(parsed("<lambda>").text, "<lambda>");
    EXPECT_EQ(parsed("vector<int>").text, "vector<int>");
    EXPECT_EQ(parsed("operator=").text, "operator=");
    EXPECT_EQ(parsed("12.py").text, "12.py");
}

TEST(TableFilter, SaysWhatAComparisonLacks)
{
    const auto result = parseTableFilter(QStringLiteral("> attention"));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, strata::model::Error::Kind::Usage);
    EXPECT_NE(result.error().text().find("No size after"), std::string::npos);
    EXPECT_FALSE(parseTableFilter(QStringLiteral(">")).has_value());
}

} // namespace
