// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/search.h"

#include "model/analysis/summary/groups.h"
#include "model/base/ascii.h"
#include "model/digest/out_of_memory.h"
#include "model/trace/filter/filter_language.h"
#include "model/trace/frames.h"
#include "tests/unit/analysis/opened.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <string>
#include <vector>

namespace strata::model {

using test::Opened;
using testing::ElementsAre;
using testing::HasSubstr;
using Kind = SearchHit::Kind;

namespace {

constexpr const char* kNames[] = { "line", "function", "file", "size", "address", "filter" };

SearchHits found(const Opened& opened, std::string_view text, EventIndex event)
{
    return search(opened.timeline(), GroupTable(opened.trace(), Grouping::Line), text, event);
}

/// "line a.py:1 'line:a.py:1' 500 B in 1 of 1".
std::vector<std::string> printed(const SearchHits& found)
{
    std::vector<std::string> lines;
    for (const SearchHit& hit : found.hits)
        lines.push_back(fmt::format("{} {} '{}' {} B in {} of {}", kNames[static_cast<int>(hit.kind)],
            hit.label, printFilter(hit.conditions), hit.bytes, hit.blocks, hit.allBlocks));
    return lines;
}

/// What `strata at EVENT --filter TEXT` adds up: every block is asked.
void expectWhatTheFilterSays(const Opened& opened, const SearchHit& hit)
{
    const std::string text = printFilter(hit.conditions);
    const auto conditions = parseFilter(text);
    ASSERT_TRUE(conditions) << text;
    const DeviceTrace& trace = opened.trace();
    const BlockMatcher matches(trace, filterOf(trace.recording(), *conditions));
    std::int64_t bytes = 0, blocks = 0, all = 0;
    for (const BlockId block : trace.blocks().all())
        all += matches(block) ? 1 : 0;
    for (const BlockId block : activeBlocks(trace, hit.event))
        if (matches(block)) {
            bytes += trace.blocks().requestedBytes[block];
            ++blocks;
        }
    EXPECT_EQ(hit.bytes, bytes) << text << " at " << hit.event;
    EXPECT_EQ(hit.blocks, blocks) << text << " at " << hit.event;
    EXPECT_EQ(hit.allBlocks, all) << text;
}

constexpr std::string_view kSmall = R"(
    alloc 0x1000 500 stack=attention@/m/model.py:1|main@/m/train.py:9
    alloc 0x1200 300 stack=self_attention@/m/model.py:2|main@/m/train.py:9
    alloc 0x1400 200 stack=linear@/lib/torch/attn.py:7|other@/m/train.py:8
    alloc 0x1600 500 stack=attention@/m/model.py:1|other@/m/train.py:8
    free_requested 0x1600 500
    free_completed 0x1600 500
    alloc 0x1600 100 stack=linear@/lib/torch/attn.py:7|other@/m/train.py:8
    segment 0x1000 2097152 small
    block 0x1000 512 req=500 allocated
    block 0x1200 512 req=300 allocated
    block 0x1400 512 req=200 allocated
    block 0x1600 512 req=100 allocated
    block 0x1800 512 req=50 allocated
)";

} // namespace

TEST(Search, TellsHowWellANameMatches)
{
    const auto match = [](std::string_view name, std::string_view text) {
        return matchName(name, text).value_or(NameMatchAt{ NameMatch::Inside, 99, 99 });
    };
    EXPECT_EQ(match("forward", "FORWARD"), (NameMatchAt{ NameMatch::Exact, 0, 7 }));
    EXPECT_EQ(match("/home/u/train.py", "train.py"), (NameMatchAt{ NameMatch::Exact, 8, 8 }));
    EXPECT_EQ(match("/train/train.py:57", "train"), (NameMatchAt{ NameMatch::Prefix, 7, 5 }));
    EXPECT_EQ(match("C:\\u\\train.py:57", "train.py"), (NameMatchAt{ NameMatch::Prefix, 5, 8 }));
    EXPECT_EQ(match("constrain_training", "train"), (NameMatchAt{ NameMatch::WordStart, 10, 5 }));
    EXPECT_EQ(match("BatchNorm", "norm"), (NameMatchAt{ NameMatch::WordStart, 5, 4 }));
    EXPECT_EQ(match("constrain", "train"), (NameMatchAt{ NameMatch::Inside, 4, 5 }));
    EXPECT_FALSE(matchName("forward", "backward"));
    EXPECT_FALSE(matchName("forward", ""));
    EXPECT_FALSE(matchName("", "f"));
}

TEST(Search, FindsLinesFunctionsAndFiles)
{
    const Opened opened(kSmall);
    const SearchHits hits = found(opened, "attention", 3);
    EXPECT_FALSE(hits.error);
    EXPECT_EQ(hits.wholeBytes, 1550);
    EXPECT_THAT(printed(hits),
        ElementsAre("line /m/model.py:1 'line:/m/model.py:1' 1000 B in 2 of 2",
            "line /m/model.py:2 'line:/m/model.py:2' 300 B in 1 of 1",
            "function attention 'attention' 1300 B in 3 of 3",
            "function self_attention 'self_attention' 300 B in 1 of 1",
            "filter attention 'attention' 1300 B in 3 of 3"));
    EXPECT_TRUE(hits.hits[0].inDetail) << "known by its function";
    EXPECT_EQ(hits.hits[0].detail, "attention");
    EXPECT_THAT(printed(found(opened, "train.py", 6)),
        ElementsAre("file /m/train.py '/m/train.py' 1100 B in 4 of 5",
            "filter train.py 'train.py' 1100 B in 4 of 5"));
}

TEST(Search, OtherTermsNarrowEveryHit)
{
    const Opened opened(kSmall);
    EXPECT_THAT(printed(found(opened, "attention > 400", 5)),
        ElementsAre("line /m/model.py:1 'line:/m/model.py:1 >=401' 500 B in 1 of 2",
            "function attention 'attention >=401' 500 B in 1 of 2",
            "size 500 B 'attention =500' 500 B in 1 of 2",
            "filter attention >=401 'attention >=401' 500 B in 1 of 2"));
}

TEST(Search, FindsSizes)
{
    const Opened opened(kSmall);
    EXPECT_THAT(printed(found(opened, "<= 200", 6)),
        ElementsAre("size 200 B '=200' 200 B in 1 of 1", "size 100 B '=100' 100 B in 1 of 1",
            "size 50 B '=50' 50 B in 1 of 1", "filter <=200 '<=200' 350 B in 3 of 3"));
    const SearchHits bare = found(opened, "500", 6);
    ASSERT_EQ(bare.hits.size(), 2U);
    EXPECT_EQ(bare.hits[0].kind, Kind::Size);
    EXPECT_EQ(bare.hits[0].block, BlockId::born(0)) << "the one that is active";
    // A number may be part of a name as well.
    EXPECT_EQ(found(opened, "7", 6).hits.front().label, "/lib/torch/attn.py:7");
}

TEST(Search, FindsTheBlocksThatHeldAnAddress)
{
    const Opened opened(kSmall);
    const SearchHits hits = found(opened, "0x1610", 3);
    ASSERT_EQ(hits.hits.size(), 3U);
    EXPECT_EQ(hits.hits[0].block, BlockId::born(3)) << "active at the instant";
    EXPECT_EQ(hits.hits[0].event, 3);
    EXPECT_EQ(hits.hits[0].bytes, 500);
    EXPECT_EQ(hits.hits[1].block, BlockId::born(4));
    EXPECT_EQ(hits.hits[1].event, 6) << "where it begins";
    EXPECT_EQ(hits.hits[1].bytes, 100);
    EXPECT_EQ(hits.hits[1].allBlocks, 2);
    EXPECT_EQ(hits.hits[2].kind, Kind::Condition);
    EXPECT_THAT(
        printed(found(opened, "0x9990000", 3)), ElementsAre("filter 0x9990000 '0x9990000' 0 B in 0 of 0"));
}

TEST(Search, SaysWhatIsNoFilterAndLooksForItAsItStands)
{
    const Opened opened(R"(
        alloc 0x1000 500 stack=f@stream:x.py:3
    )");
    const SearchHits hits = found(opened, "stream:x", 0);
    ASSERT_TRUE(hits.error);
    EXPECT_THAT(hits.error->text(), HasSubstr("column 8"));
    EXPECT_THAT(printed(hits),
        ElementsAre("line stream:x.py:3 'line:stream:x.py:3' 500 B in 1 of 1",
            "file stream:x.py '\"stream:x.py\"' 500 B in 1 of 1"));
    EXPECT_TRUE(found(opened, "  ", 0).hits.empty());
}

TEST(Search, NamesOfFramesMayEndWithinTheNumberOfALine)
{
    const Opened opened(R"(
        alloc 0x1000 500 stack=a.py:1@x.py:3
        alloc 0x2000 300 stack=g@a.py:17
        alloc 0x3000 200 stack=g@a.py:2
    )");
    for (const SearchHit& hit : found(opened, "a.py", 2).hits)
        expectWhatTheFilterSays(opened, hit);
    const auto lines = printed(found(opened, "a.py:1", 2));
    EXPECT_THAT(lines, testing::Contains(HasSubstr("function a.py:1 'a.py:1' 800 B in 2 of 2")));
}

TEST(Search, SaysHowManyMoreThereAre)
{
    std::string text;
    for (int i = 0; i < 60; ++i)
        text += fmt::format("alloc {:#x} {} stack=f{}@a.py:{}\n", 0x10000 + i * 4096, 100 + i, i, i + 1);
    const Opened opened(text);
    const SearchHits hits = found(opened, "a.py", 59);
    EXPECT_EQ(hits.leftOut[static_cast<std::size_t>(Kind::Line)], 10U);
    EXPECT_EQ(hits.hits.front().label, "a.py:60") << "the largest first";
    EXPECT_EQ(found(opened, "f", 59).leftOut[static_cast<std::size_t>(Kind::Function)], 10U);
    EXPECT_EQ(found(opened, "> 1", 59).leftOut[static_cast<std::size_t>(Kind::Size)], 10U);
    std::stop_source stop;
    stop.request_stop();
    (void)search(opened.timeline(), GroupTable(opened.trace(), Grouping::Line), "a", 59, stop.get_token());
}

TEST(Search, EveryHitHoldsWhatItsFilterSays)
{
    for (const std::uint32_t seed : { 1U, 2U, 3U, 4U }) {
        const Opened opened(test::RandomTrace{ .seed = seed,
            .events = 600,
            .streams = 3,
            .stacks = 30,
            .deferredFrees = 0.2,
            .privatePools = 0.2,
            .anomalies = seed == 4 ? 0.02 : 0.0 });
        std::set<int> kinds;
        for (const EventIndex event : { -1, 0, 100, 333, 599 })
            for (const std::string text : { "f", "forward1", "model.py", "1", "train.py:5", "main stream:1",
                     "home > 4 KiB", "2.00 KiB", "> 1MiB", "1MiB..20MiB pool:large", "stack:none",
                     "line:/home/u/train.py:5 forward", "no stack", "stream:zz", "torch", "??", "e" }) {
                const SearchHits hits = found(opened, text, event);
                for (const SearchHit& hit : hits.hits) {
                    kinds.insert(static_cast<int>(hit.kind));
                    expectWhatTheFilterSays(opened, hit);
                }
            }
        const BlockColumns& blocks = opened.trace().blocks();
        for (std::size_t place = 0; place < blocks.size(); place += 37)
            for (const SearchHit& hit :
                found(opened, fmt::format("{:#x}", blocks.address[blocks.at(place)] + 1), 300).hits) {
                kinds.insert(static_cast<int>(hit.kind));
                expectWhatTheFilterSays(opened, hit);
            }
        EXPECT_EQ(kinds.size(), SearchHit::kKinds);
    }
}

TEST(Search, LeavesNoNameOut)
{
    const Opened opened(test::RandomTrace{ .events = 800, .stacks = 40 });
    const DeviceTrace& trace = opened.trace();
    const Recording& recording = trace.recording();
    for (const std::string text : { "forward", "model", "main", "??", "o" }) {
        std::set<std::string> lines, functions, files;
        const GroupTable byLine(trace, Grouping::Line);
        for (const BlockId block : trace.blocks().all()) {
            const StackId stack = trace.blocks().stack[block];
            const std::string& label = byLine.label(byLine.groupOf(block));
            const FrameId user = stack.valid() ? userFrame(recording, stack) : FrameId{};
            if (containsAnyCase(label, text)
                || (user.valid() && containsAnyCase(frameFunction(recording, user), text)))
                lines.insert(label);
            for (const FrameId id : recording.stacks.stack(stack)) {
                const Frame& frame = recording.stacks.frame(id);
                if (containsAnyCase(recording.strings[frame.file], text))
                    files.emplace(recording.strings[frame.file]);
                if (containsAnyCase(recording.strings[frame.function], text))
                    functions.emplace(recording.strings[frame.function]);
            }
        }
        std::set<std::string> hits[SearchHit::kKinds];
        const SearchHits all = search(opened.timeline(), byLine, text, 400);
        for (const SearchHit& hit : all.hits)
            hits[static_cast<std::size_t>(hit.kind)].insert(hit.label);
        EXPECT_EQ(hits[static_cast<std::size_t>(Kind::Line)], lines) << text;
        EXPECT_EQ(hits[static_cast<std::size_t>(Kind::Function)], functions) << text;
        EXPECT_EQ(hits[static_cast<std::size_t>(Kind::File)], files) << text;
    }
}

} // namespace strata::model
