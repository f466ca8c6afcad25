// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/strips.h"

#include "tests/unit/timeline/traced.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strata::model {
namespace {

using test::RandomCase;
using test::Traced;
using testing::ElementsAre;

std::vector<std::string> texts(const StripLayout& layout)
{
    std::vector<std::string> lines;
    for (const Strip& strip : layout.strips())
        lines.push_back(fmt::format("{:#x} {} y={}{}{}", strip.address, strip.bytes, strip.y,
            strip.expandable ? " expandable" : "", strip.known ? "" : " unknown"));
    return lines;
}

TEST(StripLayout, GivesEverySegmentItsPlaceByPoolStreamAddress)
{
    const Traced t(R"(
        segment 0x1000000 1000 large
        segment 0x2000000 2000 small stream=7
        segment 0x3000000 3000 small
        segment 0x4000000 4000 small pool=(0,1)
        segment 0x5000000 5000 large
    )");
    // Streams are numbered as they appear: 0 (the first segment's), then 7.
    EXPECT_THAT(texts(StripLayout(t.trace)),
        ElementsAre("0x3000000 3000 y=0", "0x2000000 2000 y=3000", "0x1000000 1000 y=5000",
            "0x5000000 5000 y=6000", "0x4000000 4000 y=11000"));
}

TEST(StripLayout, SegmentsThatOverlapAtDifferentTimesShareAStrip)
{
    const Traced t(R"(
        segment_alloc 0x200000 2097152
        segment_free 0x200000 2097152
        segment_alloc 0x300000 2097152
        segment_free 0x300000 2097152
        segment_alloc 0x500000 2097152
        segment 0x500000 2097152 small
    )");
    EXPECT_THAT(
        texts(StripLayout(t.trace)), ElementsAre("0x200000 3145728 y=0", "0x500000 2097152 y=3145728"));
}

TEST(StripLayout, NeighbouringPiecesOfAnExpandableSegmentShareAStrip)
{
    const Traced t(R"(
        segment_map 0x200000 2097152
        segment_map 0x400000 2097152
        segment_unmap 0x400000 2097152
        segment_map 0x800000 2097152
        segment 0x200000 2097152 small expandable
        segment 0x800000 2097152 small expandable
    )");
    EXPECT_THAT(texts(StripLayout(t.trace)),
        ElementsAre("0x200000 4194304 y=0 expandable", "0x800000 2097152 y=4194304 expandable"));
}

TEST(StripLayout, BlocksWithoutASegmentGetTheirOwn)
{
    const Traced t(R"(
        alloc 0x10000 100
        alloc 0x10200 1000
        alloc 0x90000 512
        free_completed 0x90000 512
        alloc 0x90000 700
        segment 0x20000 4096 small
        block 0x20000 512 allocated
    )");
    const StripLayout layout(t.trace);
    EXPECT_THAT(texts(layout),
        ElementsAre("0x20000 4096 y=0", "0x10000 1536 y=4096 unknown", "0x90000 1024 y=5632 unknown"));
    EXPECT_EQ(layout.height(), 6656);
    EXPECT_EQ(layout.yOf(0x10200), 4096 + 512);
    EXPECT_EQ(layout.addressAt(4096 + 512), 0x10200u);
    EXPECT_EQ(layout.yOf(0x10600), -1);
    EXPECT_EQ(layout.stripAtY(-1), -1);
    EXPECT_EQ(layout.stripAtY(6656), -1);
    EXPECT_EQ(layout.addressAt(6656), 0u);
}

TEST(StripLayout, CraftedSizesStayInside)
{
    std::string text;
    for (int i = 0; i < 3000; ++i)
        text += fmt::format("segment_alloc {:#x} {}\n", 0x1000 + i * 0x10, std::int64_t{ 1 } << 60);
    text += "segment_alloc 0x7fffffffffffff00 9223372036854775807\nsegment_alloc 0x10 0\nsegment_alloc 0x20 "
            "-5\n"
            "segment_alloc 0xfffffffffffffff0 4096\nalloc 0xffffffffffffff00 9223372036854775807\nalloc 0x0 "
            "-7\n"
            "alloc 0x8 0\n";
    const Traced t(text);
    const StripLayout layout(t.trace);
    EXPECT_LE(layout.height(), StripLayout::kMaxHeight);
    std::int64_t y = 0;
    for (const Strip& strip : layout.strips()) {
        EXPECT_EQ(strip.y, y);
        EXPECT_GT(strip.bytes, 0);
        y += strip.bytes;
    }
    EXPECT_EQ(y, layout.height());
}

TEST(StripLayout, HoldsEverySegmentAndBlock)
{
    for (const RandomCase& of : test::randomCases()) {
        SCOPED_TRACE(of.name);
        const Traced t = traced(of);
        const StripLayout layout(t.trace);
        std::int64_t y = 0;
        for (std::size_t i = 0; i < layout.strips().size(); ++i) {
            const Strip& strip = layout.strips()[i];
            EXPECT_EQ(strip.y, y);
            y += strip.bytes;
            const std::uint64_t last = strip.address + static_cast<std::uint64_t>(strip.bytes) - 1;
            EXPECT_EQ(layout.stripOf(strip.address), static_cast<int>(i));
            EXPECT_EQ(layout.stripOf(last), static_cast<int>(i));
            EXPECT_NE(layout.stripOf(last + 1), static_cast<int>(i));
            EXPECT_EQ(layout.stripAtY(strip.y), static_cast<int>(i));
            EXPECT_EQ(layout.stripAtY(strip.y + strip.bytes - 1), static_cast<int>(i));
            EXPECT_EQ(layout.addressAt(layout.yOf(last)), last);
        }
        EXPECT_EQ(y, layout.height());
        for (const SegmentLife& life : t.trace.segmentLives()) {
            const int strip = layout.stripOf(life.address);
            ASSERT_GE(strip, 0);
            EXPECT_EQ(layout.stripOf(life.address + static_cast<std::uint64_t>(life.bytes) - 1), strip);
        }
        for (const BlockId block : t.trace.blocks().all())
            EXPECT_GE(layout.yOf(t.trace.blocks().address[block]), 0);
    }
}

} // namespace
} // namespace strata::model
