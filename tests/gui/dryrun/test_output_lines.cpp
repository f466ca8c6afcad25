// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/programs/output_lines.h"

#include <gtest/gtest.h>

using namespace strata::views;

namespace {

TEST(OutputLines, AreWhatATerminalShows)
{
    OutputLines lines;
    lines.feed("one\ntw");
    EXPECT_EQ(lines.take(), QStringList{ QStringLiteral("one") });
    EXPECT_EQ(lines.unfinished(), QStringLiteral("tw"));
    lines.feed("o\r\n 1 %\r 50 %\r100 %");
    EXPECT_EQ(lines.take(), QStringList{ QStringLiteral("two") });
    EXPECT_EQ(lines.unfinished(), QStringLiteral("100 %"));
    lines.feed("\n\n\x1b[1;31mred\x1b[0m \xc3");
    lines.feed("\xa9\x07\tz");
    lines.finish();
    EXPECT_EQ(
        lines.take(), (QStringList{ QStringLiteral("100 %"), QString(), QStringLiteral("red \u00e9\tz") }));
    lines.finish();
    EXPECT_TRUE(lines.take().isEmpty());
}

TEST(OutputLines, HoldsTheNewestAlone)
{
    OutputLines lines;
    for (int i = 0; i < OutputLines::kMostPending + 10; ++i)
        lines.feed(QByteArray::number(i) + '\n');
    const QStringList held = lines.take();
    ASSERT_EQ(held.size(), OutputLines::kMostPending);
    EXPECT_EQ(held.front(), QStringLiteral("10"));
    EXPECT_EQ(held.back(), QString::number(OutputLines::kMostPending + 9));
    for (int i = 0; i < 100; ++i)
        lines.feed(QByteArray(OutputLines::kLongest, 'x'));
    EXPECT_EQ(lines.unfinished().size(), OutputLines::kLongest);
}

} // namespace
