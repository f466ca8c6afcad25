// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/live_index.h"

#include "tests/unit/timeline/traced.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <tuple>

namespace strata::model {
namespace {

using test::RandomCase;
using test::Traced;

std::vector<BlockId> naiveLive(const BlockColumns& blocks, EventIndex e)
{
    std::vector<BlockId> live;
    for (const BlockId block : blocks.all())
        if (blocks.liveAt(block, e))
            live.push_back(block);
    std::sort(live.begin(), live.end(), [&](BlockId a, BlockId b) {
        return std::make_tuple(blocks.address[a], blocks.birth(a), a)
            < std::make_tuple(blocks.address[b], blocks.birth(b), b);
    });
    return live;
}

std::uint64_t bytesOf(const BlockColumns& blocks, BlockId block)
{
    const auto requested = std::max<std::int64_t>(blocks.requestedBytes[block], 1);
    const std::uint32_t rounding = blocks.rounding[block];
    return static_cast<std::uint64_t>(requested)
        + (rounding == BlockColumns::kRoundingUnknown ? 0 : rounding);
}

class LiveIndexOfRandomTrace : public testing::TestWithParam<RandomCase> { };

TEST_P(LiveIndexOfRandomTrace, EqualsScan)
{
    const Traced t = traced(GetParam());
    const BlockColumns& blocks = t.trace.blocks();
    const LiveIndex live(t.trace);
    const EventIndex count = t.trace.eventCount();
    for (EventIndex e = -1; e <= count; e += e < 100 || e > count - 3 ? 1 : 17) {
        ASSERT_EQ(live.liveAt(e), naiveLive(blocks, e)) << "event " << e;
        std::vector<BlockId> unordered = live.liveAtUnordered(e);
        std::vector<BlockId> expected = naiveLive(blocks, e);
        std::sort(unordered.begin(), unordered.end());
        std::sort(expected.begin(), expected.end());
        ASSERT_EQ(unordered, expected) << "event " << e;

        std::size_t born = 0;
        for (const BlockId block : blocks.all())
            if (!block.isOlder() && blocks.birth(block) <= e)
                born = block.row() + 1;
        ASSERT_EQ(live.rowsBornUpTo(e), born) << "event " << e;
    }
    EXPECT_EQ(live.liveAt(count + 1000), naiveLive(blocks, count - 1));
}

TEST_P(LiveIndexOfRandomTrace, FindsTheBlockThatHoldsAnAddress)
{
    const Traced t = traced(GetParam());
    const BlockColumns& blocks = t.trace.blocks();
    const LiveIndex live(t.trace);
    std::mt19937_64 random(3);
    for (int i = 0; i < 200; ++i) {
        const auto e
            = static_cast<EventIndex>(random() % (static_cast<std::uint64_t>(t.trace.eventCount()) + 1)) - 1;
        const BlockId near = blocks.at(random() % blocks.size());
        const std::uint64_t address = blocks.address[near] + random() % (2 * bytesOf(blocks, near)) - 1;
        BlockId expected;
        for (const BlockId block : naiveLive(blocks, e)) {
            if (address - blocks.address[block] < bytesOf(blocks, block) && blocks.address[block] <= address
                && (!expected.valid() || blocks.birth(block) > blocks.birth(expected)))
                expected = block;
        }
        const BlockId found = live.blockAt(address, e);
        ASSERT_EQ(found.valid(), expected.valid()) << "event " << e;
        if (found.valid()) {
            ASSERT_EQ(blocks.birth(found), blocks.birth(expected));
            ASSERT_LT(address - blocks.address[found], bytesOf(blocks, found));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, LiveIndexOfRandomTrace, testing::ValuesIn(test::randomCases()),
    [](const auto& each) { return each.param.name; });

TEST(LiveIndex, OfDeviceWithoutEvents)
{
    const Traced t(R"(
        segment 0x200000 2097152 small
        block 0x200000 512 req=500 allocated
        block 0x200200 1024 req=1000 pending
    )");
    const LiveIndex live(t.trace);
    EXPECT_EQ(live.liveAt(-1).size(), 2u);
    EXPECT_EQ(live.liveAt(0).size(), 2u);
    EXPECT_EQ(live.liveAtUnordered(-1).size(), 2u);
    EXPECT_EQ(t.trace.blocks().requestedBytes[live.blockAt(0x2001ff, -1)], 500);
    EXPECT_EQ(t.trace.blocks().requestedBytes[live.blockAt(0x200200, -1)], 1000);
    EXPECT_FALSE(live.blockAt(0x200600, -1).valid());
}

TEST(LiveIndex, TakesUnderHalfAByteABlock)
{
    test::RandomTrace options;
    options.events = 100'000;
    options.before = 0;
    const Traced t(test::randomRecording(options));
    EXPECT_LT(LiveIndex(t.trace).bytesResident(), t.trace.blocks().size() / 2);
}

} // namespace
} // namespace strata::model
