// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/filter/filter.h"
#include "model/trace/filter/grouping.h"
#include "tests/support/make_recording.h"
#include "tests/support/random_recording.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace strata::model {

namespace {

constexpr std::string_view kSmallTrace = R"(
    alloc 0x1000 512  stack=f@train.py:3|g@main.py:9
    alloc 0x1200 512  stack=h@??:0|f2@train.py:3
    alloc 0x1400 1000 stack=g@main.py:9 stream=0x7f0000001000
    alloc 0x1800 512
    alloc 0x900000 7  stack=
    segment 0x1000 2097152 small
    block 0x1000 512 allocated
    block 0x1200 512 allocated
    block 0x1400 1024 req=1000 allocated
    block 0x1800 512 allocated
    block 0x2000 2048 req=1536 allocated stack=older@old.py:1
    segment 0x900000 4194304 large pool=(0,3)
    block 0x900000 512 req=7 allocated)";

struct Fixture {
    explicit Fixture(std::string_view text)
        : recording(test::makeRecording(text))
        , trace(*DeviceTrace::build(*recording, recording->devices[0], {}))
    {
    }
    std::unique_ptr<Recording> recording;
    DeviceTrace trace;
};

std::map<std::string, std::int64_t> bytesByLabel(const DeviceTrace& trace, Grouping grouping)
{
    const GroupTable table(trace, grouping);
    std::map<std::string, std::int64_t> sums;
    for (const BlockId b : trace.blocks().all())
        sums[table.label(table.groupOf(b))] += trace.blocks().requestedBytes[b];
    EXPECT_EQ(sums.size(), table.count());
    return sums;
}

using Sums = std::map<std::string, std::int64_t>;

} // namespace

TEST(GroupTable, AStackOfAFreeDoesNotSayWhoAllocated)
{
    // Older than the trace: of the first, PyTorch says who freed it; of the second, who allocated it.
    const Fixture f(R"(
    free_requested 0x1000 100 stack=gather@??:0|c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::free@??:0|step@optimizer.py:73
    free_completed 0x1000 100 stack=gather@??:0|c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::free@??:0|step@optimizer.py:73
    free_requested 0x2000 50 stack=gather@??:0|c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc@??:0|build@model.py:9
    free_completed 0x2000 50 stack=gather@??:0|c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc@??:0|build@model.py:9)");
    EXPECT_EQ(bytesByLabel(f.trace, Grouping::Line),
        (Sums{ { "no stack recorded", 100 }, { "model.py:9", 50 } }));
}

TEST(GroupTable, PutsBlocksTogetherByLine)
{
    const Fixture f(kSmallTrace);
    EXPECT_EQ(bytesByLabel(f.trace, Grouping::Line),
        (Sums{ { "train.py:3", 1024 }, { "main.py:9", 1000 }, { "no stack recorded", 519 },
            { "old.py:1", 1536 } }));
    const GroupTable table(f.trace, Grouping::Line);
    EXPECT_EQ(table.stackOf(table.groupOf(BlockId{ 1 })), f.trace.blocks().stack[BlockId{ 0 }]);
    EXPECT_EQ(table.valueOf(table.groupOf(BlockId{ 3 })), -1);
    EXPECT_FALSE(table.stackOf(table.groupOf(BlockId{ 3 })).valid());
}

TEST(GroupTable, PutsBlocksTogetherByStreamPoolAndSize)
{
    const Fixture f(kSmallTrace);
    EXPECT_EQ(bytesByLabel(f.trace, Grouping::Stream),
        (Sums{ { "stream 0", 512 * 3 + 7 + 1536 }, { "stream 0x7f0000001000", 1000 } }));
    EXPECT_EQ(bytesByLabel(f.trace, Grouping::Pool),
        (Sums{ { "small", 512 * 3 + 1000 + 1536 }, { "(0,3)/large", 7 } }));
    EXPECT_EQ(bytesByLabel(f.trace, Grouping::Size),
        (Sums{ { "512 B", 512 * 3 }, { "1000 B", 1000 }, { "7 B", 7 }, { "1.50 KiB", 1536 } }));
    const GroupTable site(f.trace, Grouping::Site);
    EXPECT_EQ(site.count(), 5u); // four stacks and none
    EXPECT_NE(site.groupOf(BlockId{ 0 }), site.groupOf(BlockId{ 1 }));
    EXPECT_EQ(site.groupOf(BlockId{ 3 }), site.groupOf(BlockId{ 4 }));
}

TEST(GroupTable, TakesTheLastPoolsThatNoSegmentIsLeftOf)
{
    const Fixture f(R"(
        alloc 0x500 4
        segment_alloc 0x200000 2097152
        alloc 0x200000 1
        segment_alloc 0x800000 20971520 pool=(0,7)
        alloc 0x800000 2
        free_completed 0x200000 1
        free_completed 0x800000 2
        segment_free 0x200000 2097152
        segment_free 0x800000 20971520 pool=(0,7)
        segment_alloc 0x200000 20971520
        alloc 0x200000 8)");
    EXPECT_EQ(bytesByLabel(f.trace, Grouping::Pool),
        (Sums{ { "small", 1 }, { "(0,7)/large", 2 }, { "unknown", 4 }, { "large", 8 } }));
}

TEST(GroupTable, AddsUpToTheTotalOnAnyTrace)
{
    const auto recording = test::randomRecording(
        { .seed = 5, .devices = 2, .events = 3000, .streams = 3, .privatePools = 0.2 });
    for (DeviceRecording& device : recording->devices) {
        const DeviceTrace trace = *DeviceTrace::build(*recording, device, {});
        std::int64_t total = 0;
        for (const BlockId b : trace.blocks().all())
            total += trace.blocks().requestedBytes[b];
        for (const char* name : { "line", "site", "stream", "pool", "size" }) {
            const Grouping grouping = *groupingFromName(name);
            EXPECT_EQ(infoOf(grouping).name, name);
            std::int64_t sum = 0;
            for (const auto& [label, bytes] : bytesByLabel(trace, grouping))
                sum += bytes;
            EXPECT_EQ(sum, total) << name;
        }
    }
    EXPECT_FALSE(groupingFromName("colour"));
}

TEST(Groupings, AreDescribedWhole)
{
    std::set<std::string_view> names, titles;
    for (const GroupingInfo& info : groupings()) {
        EXPECT_EQ(&infoOf(info.grouping), &info);
        EXPECT_EQ(groupingFromName(info.name), info.grouping);
        for (const std::string_view words :
            { info.name, info.title.text(), info.one.text(), info.narrower.text() })
            EXPECT_FALSE(words.empty()) << info.name;
        EXPECT_TRUE(names.insert(info.name).second) << info.name;
        EXPECT_TRUE(titles.insert(info.title.text()).second) << info.name;
        ASSERT_TRUE(info.narrowToGroup && info.narrowToBlock) << info.name;
    }
    EXPECT_EQ(groupingNames(), "line, site, stream, pool, size, category or module");
}

/// Whatever the grouping: a filter that is narrowed to a group, or to the group of a block, lets pass exactly
/// the blocks that the table puts there, of those that it let pass before.
TEST(Groupings, NarrowAFilterToExactlyTheirBlocks)
{
    const auto recording = test::randomRecording(
        { .seed = 11, .events = 2000, .streams = 3, .deferredFrees = 0.2, .privatePools = 0.2 });
    const DeviceTrace trace = *DeviceTrace::build(*recording, recording->devices.front(), {});
    BlockFilter before;
    before.minBytes = 600;
    const BlockMatcher passesBefore(trace, before);
    for (const GroupingInfo& info : groupings()) {
        SCOPED_TRACE(info.name);
        const GroupTable table(trace, info.grouping);
        EXPECT_GT(table.count(), 1u);
        std::vector<BlockId> firstOf(table.count());
        for (const BlockId b : trace.blocks().all())
            if (BlockId& first = firstOf[table.groupOf(b)]; !first.valid() || !passesBefore(first))
                first = b;
        for (std::uint32_t group = 0; group < std::min(table.count(), 12u); ++group) {
            if (!passesBefore(firstOf[group]))
                continue; // of the size, which the condition on sizes gives way to
            BlockFilter byGroup = before, byBlock = before;
            info.narrowToGroup(byGroup, trace, table, group);
            info.narrowToBlock(byBlock, trace, firstOf[group]);
            EXPECT_EQ(byGroup, byBlock);
            const BlockMatcher passes(trace, byGroup);
            for (const BlockId b : trace.blocks().all())
                ASSERT_EQ(
                    passes(b), passesBefore(b) && table.groupOf(b) == group);
        }
    }
}

/// Blocks 0 and 2 are activations of h.3.attn and h.3, block 1 a parameter of h.30, the older ones gradients
/// of none; of block 3 on nothing is known.
DeviceLabels labelsOfSmallTrace(std::size_t older)
{
    const auto labels = [older](std::vector<std::string> names, std::initializer_list<std::uint32_t> born) {
        auto made = std::make_shared<BlockLabels>();
        made->names = std::move(names);
        for (const std::uint32_t row : born)
            made->rows.born.push_back(row);
        for (std::size_t i = 0; i < older; ++i)
            made->rows.older.push_back(static_cast<std::uint32_t>(made->names.size() - 1));
        return made;
    };
    return { labels({ "parameter", "activation", "gradient" }, { 1, 0, 1 }),
        labels({ "h.3.attn", "h.30", "h.3", "none" }, { 0, 1, 2 }) };
}

TEST(GroupTable, OfLabelsKnowsWhatCameSinceAsUnknown)
{
    const Fixture f(kSmallTrace);
    const GroupTable table(f.trace, Grouping::Category, labelsOfSmallTrace(1).category);
    const GroupTable again(f.trace, table);
    for (const GroupTable* one : { &table, &again }) {
        std::string text;
        for (const BlockId block : f.trace.blocks().all())
            text += one->label(one->groupOf(block)) + ";";
        EXPECT_EQ(text, "activation;parameter;activation;unknown;unknown;gradient;");
    }
    EXPECT_TRUE(again.sharesGroups(table));
    EXPECT_EQ(again.labels(), table.labels());
    EXPECT_EQ(GroupTable(f.trace, Grouping::Line).labels(), nullptr);
}

TEST(Groupings, NarrowAFilterToLabels)
{
    const Fixture f(kSmallTrace);
    const DeviceLabels labels = labelsOfSmallTrace(1);
    for (const Grouping grouping : { Grouping::Category, Grouping::Module }) {
        const GroupTable table(
            f.trace, grouping, grouping == Grouping::Category ? labels.category : labels.module);
        for (std::uint32_t group = 0; group < table.count(); ++group) {
            BlockFilter filter;
            infoOf(grouping).narrowToGroup(filter, f.trace, table, group);
            EXPECT_TRUE(filter.asksForLabels());
            const BlockMatcher passes(f.trace, filter, labels), knowsNothing(f.trace, filter);
            for (const BlockId block : f.trace.blocks().all()) {
                EXPECT_EQ(passes(block), table.groupOf(block) == group) << table.label(group);
                EXPECT_FALSE(knowsNothing(block));
            }
        }
    }
}

TEST(BlockFilter, TakesAModuleWithAllThatIsWithinIt)
{
    const Fixture f(kSmallTrace);
    const DeviceLabels labels = labelsOfSmallTrace(1);
    const auto passing = [&](const char* module) {
        BlockFilter filter;
        filter.module = module;
        const BlockMatcher matches(f.trace, filter, labels);
        std::string blocks;
        for (const BlockId block : f.trace.blocks().all())
            if (matches(block))
                blocks += std::to_string(block.value) + " ";
        return blocks;
    };
    EXPECT_EQ(passing("h.3"), "2 ");
    EXPECT_EQ(passing("h.3.*"), "0 2 ");
    EXPECT_EQ(passing("h.*"), "0 1 2 ");
    EXPECT_EQ(passing("none"), "-1 ");
    EXPECT_EQ(passing("nowhere.*"), "");
}

TEST(BlockFilter, JoinsItsConditions)
{
    const Fixture f(kSmallTrace);
    const auto matching = [&](const BlockFilter& filter) {
        const BlockMatcher matcher(f.trace, filter);
        std::vector<std::int32_t> rows;
        for (const BlockId b : f.trace.blocks().all())
            if (matcher(b))
                rows.push_back(b.value);
        return rows;
    };
    using Rows = std::vector<std::int32_t>;
    EXPECT_TRUE(BlockFilter{}.empty());
    EXPECT_EQ(matching({}), (Rows{ 0, 1, 2, 3, 4, -1 }));
    EXPECT_EQ(matching({ .sites = { f.trace.blocks().stack[BlockId{ 2 }] } }), Rows{ 2 });
    EXPECT_EQ(matching({ .sites = { StackId{} } }), Rows{ 3 });
    EXPECT_EQ(matching({ .line = "train.py:3" }), (Rows{ 0, 1 }));
    EXPECT_EQ(matching({ .line = std::string(kNoStackLabel) }), (Rows{ 3, 4 }));
    EXPECT_EQ(matching({ .stream = f.trace.blocks().stream[BlockId{ 2 }] }), Rows{ 2 });
    EXPECT_EQ(matching({ .pool = f.trace.blocks().pool[BlockId{ 4 }] }), Rows{ 4 });
    EXPECT_EQ(matching({ .minBytes = 513, .maxBytes = 1000 }), Rows{ 2 });
    EXPECT_EQ(matching({ .text = "MAIN" }), (Rows{ 0, 2 }));
    EXPECT_EQ(matching({ .text = "F2" }), Rows{ 1 });
    EXPECT_EQ(matching({ .text = "main.py:9" }), (Rows{ 0, 2 }));
    EXPECT_EQ(matching({ .minBytes = 600, .text = "main" }), Rows{ 2 });
    EXPECT_EQ(matching({ .text = "0x13ff" }), Rows{ 1 });
    EXPECT_EQ(matching({ .text = "0x17f0" }), Rows{ 2 }); // in the rounded part
    EXPECT_EQ(matching({ .text = "0x1234567" }), Rows{});
    EXPECT_EQ(matching({ .text = "nowhere" }), Rows{});
}

} // namespace strata::model
