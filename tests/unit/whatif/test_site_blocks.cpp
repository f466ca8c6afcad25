// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/site_blocks.h"

#include "model/whatif/kinds/removed_blocks.h"
#include "model/whatif/run/run_requests.h"
#include "tests/unit/analysis/opened.h"

#include <gtest/gtest.h>

#include <string>

namespace strata::model {

namespace {

constexpr const char* kProgram
    = "alloc 0x1000 512 stack=empty@torch/x.cpp:1|make@/home/u/train.py:5|main@/home/u/train.py:50\n"
      "alloc 0x2000 1024 stack=make@/home/u/train.py:57|main@/home/u/train.py:50\n"
      "alloc 0x3000 2048 stack=forward@/home/u/model.py:5|main@/home/u/train.py:51\n"
      "alloc 0x4000 4096\n"
      "alloc 0x5000 8192 stack=remake@/home/u/pretrain.py:5|main@/home/u/train.py:52\n"
      "free_requested 0x5000 8192\nfree_completed 0x5000 8192\n"
      "alloc 0x6000 512 stack=make@/home/u/train.py:5|main@/home/u/train.py:53";

/// "10?0": of each block that was born in the trace.
std::string blocksAtSite(const DeviceTrace& trace, const char* site)
{
    const RecordedRun run{ .trace = &trace };
    const auto found = blocksOfSite(run, site);
    if (!found)
        return found.error().text();
    std::string text;
    for (const SiteBlocks::Is is : found->born)
        text += is == SiteBlocks::Is::There ? '1' : is == SiteBlocks::Is::Unknown ? '?' : '0';
    return text;
}

} // namespace

TEST(SiteBlocks, AreOfTheNarrowestThatATextCanBe)
{
    const test::Opened opened(kProgram);
    const DeviceTrace& trace = opened.trace();
    EXPECT_EQ(blocksAtSite(trace, "train.py:5"), "100?01"); // nor line 57 or 50, nor pretrain.py
    EXPECT_EQ(blocksAtSite(trace, "/home/u/train.py:57"), "010?00");
    EXPECT_EQ(blocksAtSite(trace, "train.py:50"), "110?00"); // of any frame
    EXPECT_EQ(blocksAtSite(trace, "make"), "110?01"); // the function, not remake
    EXPECT_EQ(blocksAtSite(trace, "Model.py"), "001?00");
    EXPECT_EQ(blocksAtSite(trace, "ain.py"), "111?11"); // what filters mean
    EXPECT_EQ(blocksAtSite(trace, "make > 600"), "010?00"); // and the rest of a filter
    EXPECT_EQ(blocksAtSite(trace, "line:/home/u/model.py:5"), "001?00");
    EXPECT_EQ(blocksAtSite(trace, "> 4KiB"), "000010"); // no stack is asked for
    EXPECT_EQ(blocksAtSite(trace, "0x2000"), "010000");
    EXPECT_EQ(blocksAtSite(trace, "stack:none"), "000100");
}

TEST(SiteBlocks, SayWhatIsNearWhereThereAreNone)
{
    const test::Opened opened(kProgram);
    const std::string near = blocksAtSite(opened.trace(), "train.py:56");
    EXPECT_NE(near.find("no block of the recording was asked for at 'train.py:56'"), near.npos) << near;
    EXPECT_NE(near.find("ask for blocks: /home/u/train.py:57, /home/u/train.py:5, "), near.npos) << near;
    const std::string often = blocksAtSite(opened.trace(), "no_such_function");
    EXPECT_NE(often.find("ask for blocks: /home/u/pretrain.py:5, "), often.npos) << often;
    const test::Opened bare("alloc 0x1000 512\nalloc 0x2000 512");
    EXPECT_NE(blocksAtSite(bare.trace(), "make").find("has no stacks"), std::string::npos);
    EXPECT_EQ(blocksAtSite(bare.trace(), "> 1"), "11");
}

TEST(RemovedBlocks, AreOfAllChangesTogether)
{
    const test::Opened opened(kProgram);
    const RecordedRun run{ .trace = &opened.trace() };
    const auto removed = RemovedBlocks::of(run, { "model.py:5", "train.py:57" });
    ASSERT_TRUE(removed) << removed.error().text();
    EXPECT_EQ(removed->rows, (std::vector<std::uint32_t>{ 1, 2 }));
    EXPECT_EQ(removed->bytes, 3072);
    EXPECT_EQ(removed->doubtful, std::vector<std::uint32_t>{ 3 });
    EXPECT_EQ(removed->unknownBytes, 4096);
    EXPECT_FALSE(RemovedBlocks::of(run, { "model.py:5", "x.py:1" }));
}

TEST(RemovedBlocks, LeaveWhatIsOlderThanTheTraceInDoubt)
{
    const test::Opened opened("free_requested 0x9000 512 stack=make@train.py:5\nfree_completed 0x9000 512\n"
                              "free_requested 0xa000 2048\nfree_completed 0xa000 2048\n"
                              "alloc 0x1000 1024 stack=make@train.py:5");
    const RecordedRun run{ .trace = &opened.trace() };
    const auto removed = RemovedBlocks::of(run, { "make" });
    ASSERT_TRUE(removed) << removed.error().text();
    EXPECT_EQ(removed->rows, std::vector<std::uint32_t>{ 0 });
    EXPECT_EQ(removed->olderBytes, 2560);
    EXPECT_EQ(removed->unknownBytes, 2560);
}

TEST(RemovedBlocks, HaveRequestsThatWereRefused)
{
    const test::Opened opened(
        "alloc 0x1000 512 stack=make@train.py:5\noom size=4096 free=0 stack=make@train.py:5\n"
        "alloc 0x2000 1024 stack=other@train.py:6\noom size=8192 free=0 stack=other@train.py:6");
    const RecordedRun run{ .trace = &opened.trace() };
    for (const char* const site : { "make", "line:train.py:5" }) {
        const auto removed = RemovedBlocks::of(run, { site });
        ASSERT_TRUE(removed) << removed.error().text();
        EXPECT_EQ(removed->refused, std::vector<EventIndex>{ 1 });
        ProgramRun left = programRunOf(opened.trace());
        left.blocks[0].bytes = 0;
        left.unasked = removed->refused;
        for (const bool reordered : { false, true }) {
            left.reordered = reordered;
            const auto made = RunRequests::of(opened.trace(), left);
            ASSERT_TRUE(made) << made.error().text();
            const Column<std::int64_t>& bytes = *made->requests().bytes;
            EXPECT_EQ(bytes[0], 0);
            EXPECT_EQ(bytes[1], 0);
            EXPECT_EQ(bytes[2], 1024);
            EXPECT_EQ(bytes[3], 8192);
        }
    }
}

} // namespace strata::model
