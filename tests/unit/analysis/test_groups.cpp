// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/groups.h"
#include "tests/unit/analysis/opened.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <map>
#include <string>

namespace strata::model {

using test::Opened;

namespace {

std::string printGroups(const LiveGroups& live, const GroupTable& table)
{
    std::string text
        = fmt::format("{} B in {}, {} before\n", live.requestedBytes, live.blocks, live.beforeTraceBytes);
    for (const GroupSum& sum : live.groups)
        text += fmt::format("{} {} {}\n", sum.bytes, sum.blocks, table.label(sum.group));
    return text;
}

} // namespace

TEST(Groups, AddUpByLine)
{
    const Opened opened(R"(
        alloc 0x1000 500 stack=f@a.py:1|main@m.py:9
        alloc 0x1200 300 stack=g@b.py:2|main@m.py:9
        alloc 0x1400 200 stack=f@a.py:1|other@m.py:8
        free_requested 0x1000 500
        free_completed 0x1000 500
        segment 0x1000 2097152 small
        block 0x1200 512 req=300 allocated stack=g@b.py:2|main@m.py:9
        block 0x1400 512 req=200 allocated stack=f@a.py:1|other@m.py:8
        block 0x1600 512 req=100 allocated
    )");
    const GroupTable lines(opened.trace(), Grouping::Line);
    EXPECT_EQ(printGroups(groupsAt(opened.timeline(), lines, -1), lines),
        "100 B in 1, 100 before\n100 1 no stack recorded\n");
    EXPECT_EQ(printGroups(groupsAt(opened.timeline(), lines, 2), lines),
        "1100 B in 4, 100 before\n700 2 a.py:1\n300 1 b.py:2\n100 1 no stack recorded\n");
    EXPECT_EQ(printGroups(groupsAt(opened.trace(), lines, 4), lines),
        "600 B in 3, 100 before\n300 1 b.py:2\n200 1 a.py:1\n100 1 no stack recorded\n");
}

TEST(Groups, TiesGoByLabel)
{
    const Opened opened(R"(
        alloc 0x1000 512 stack=f@z.py:1
        alloc 0x1200 512 stack=f@a.py:1
        segment 0x1000 2097152 small
        block 0x1000 512 allocated
        block 0x1200 512 allocated
    )");
    const GroupTable lines(opened.trace(), Grouping::Line);
    EXPECT_EQ(printGroups(groupsAt(opened.trace(), lines, 1), lines),
        "1024 B in 2, 0 before\n512 1 a.py:1\n512 1 z.py:1\n");
}

TEST(Groups, AgreeWithAnIndexAndACurve)
{
    for (const bool expandable : { false, true }) {
        const Opened opened(test::RandomTrace{ .seed = 7,
            .events = 3000,
            .streams = 3,
            .deferredFrees = 0.2,
            .privatePools = 0.2,
            .expandable = expandable });
        const DeviceTrace& trace = opened.trace();
        for (const Grouping grouping :
            { Grouping::Line, Grouping::Site, Grouping::Stream, Grouping::Pool, Grouping::Size }) {
            const GroupTable table(trace, grouping);
            for (EventIndex e = -1; e < trace.eventCount(); e += 97) {
                const LiveGroups scanned = groupsAt(trace, table, e);
                EXPECT_EQ(
                    printGroups(scanned, table), printGroups(groupsAt(opened.timeline(), table, e), table))
                    << e;
                EXPECT_EQ(scanned.requestedBytes, opened.timeline().requested().at(e)) << e;
                std::int64_t bytes = 0, blocks = 0;
                for (const GroupSum& sum : scanned.groups) {
                    bytes += sum.bytes;
                    blocks += sum.blocks;
                }
                EXPECT_EQ(bytes, scanned.requestedBytes);
                EXPECT_EQ(blocks, scanned.blocks);
            }
        }
    }
}

TEST(Groups, TakeOnlyWhatAFilterLetsThrough)
{
    const Opened opened(test::RandomTrace{ .seed = 3, .events = 500 });
    const GroupTable table(opened.trace(), Grouping::Line);
    BlockFilter filter;
    filter.minBytes = 10'000;
    const BlockMatcher matches(opened.trace(), filter);
    const LiveGroups live = groupsAt(opened.trace(), table, 250, &matches);
    std::int64_t expected = 0;
    for (const BlockId block : activeBlocks(opened.trace(), 250)) {
        const std::int64_t bytes = opened.trace().blocks().requestedBytes[block];
        expected += bytes >= 10'000 ? bytes : 0;
    }
    EXPECT_GT(expected, 0);
    EXPECT_EQ(live.requestedBytes, expected);
}

} // namespace strata::model
