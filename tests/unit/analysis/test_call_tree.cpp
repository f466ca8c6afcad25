// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/tables/call_tree.h"
#include "model/trace/filter/grouping.h"
#include "tests/unit/analysis/opened.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace strata::model {

using test::Opened;

namespace {

constexpr const char* kThree = R"(
    alloc 0x1000 500 stack=f@a.py:1|main@m.py:9
    alloc 0x1200 300 stack=g@b.py:2|main@m.py:9
    alloc 0x1400 200 stack=f@a.py:1|g@b.py:3|main@m.py:9
    alloc 0x1600 100
    free_requested 0x1200 300
    free_completed 0x1200 300
    segment 0x1000 2097152 small
    block 0x1000 512 req=500 allocated
    block 0x1400 512 req=200 allocated
    block 0x1600 512 req=100 allocated
)";

/// One line a node, indented by depth: total, self, blocks, frame.
std::string printTree(const CallTree& tree, const Recording& recording)
{
    std::string text;
    std::vector<std::pair<std::uint32_t, int>> stack{ { 0, 0 } };
    while (!stack.empty()) {
        const auto [index, depth] = stack.back();
        stack.pop_back();
        const CallTree::Node& node = tree.nodes[index];
        text += fmt::format("{}{} {} {} {}\n", std::string(static_cast<std::size_t>(depth) * 2, ' '),
            node.total, node.self, node.blocks,
            node.label != CallTree::kNoLabel ? "[" + tree.labels[node.label] + "]"
                : node.frame.valid()         ? frameLabel(recording, node.frame)
                : index == 0                 ? "root"
                                             : "none");
        std::vector<std::uint32_t> children;
        for (std::uint32_t child = node.firstChild; child != 0; child = tree.nodes[child].nextSibling)
            children.push_back(child);
        for (auto child = children.rbegin(); child != children.rend(); ++child)
            stack.emplace_back(*child, depth + 1);
    }
    return text;
}

std::string treeOf(const Opened& opened, const TreeQuery& query)
{
    return printTree(callTree(opened.timeline(), query), opened.trace().recording());
}

/// The cost of a block by the words of the header alone.
std::int64_t naiveCost(const DeviceTimeline& timeline, BlockId block, const TreeQuery& query, EventIndex peak)
{
    const BlockColumns& blocks = timeline.trace().blocks();
    const std::int64_t bytes = blocks.requestedBytes[block];
    const EventIndex birth = blocks.birth(block), death = blocks.death(block);
    const bool born = birth >= 0 && query.from <= birth && birth <= query.to;
    const bool instant = query.from == query.to;
    switch (query.cost) {
    case TreeCost::Bytes:
        return blocks.liveAt(block, instant ? query.to : peak) ? bytes : 0;
    case TreeCost::Count:
        return (instant ? blocks.liveAt(block, query.to) : born) ? 1 : 0;
    case TreeCost::Leaked:
        return born && death == std::numeric_limits<EventIndex>::max() ? bytes : 0;
    case TreeCost::Temporary:
        return born && death <= query.to ? bytes : 0;
    }
    return 0;
}

/// Cost by path from the root, each prefix counted.
using PathCosts = std::map<std::vector<std::uint32_t>, std::int64_t>;

PathCosts naiveTree(const DeviceTimeline& timeline, const TreeQuery& query, EventIndex peak)
{
    const DeviceTrace& trace = timeline.trace();
    const Recording& recording = trace.recording();
    PathCosts costs;
    for (const BlockId block : trace.blocks().all()) {
        const std::int64_t cost = naiveCost(timeline, block, query, peak);
        if (cost == 0)
            continue;
        const StackId stack = trace.blocks().stack[block];
        std::vector<std::uint32_t> path;
        for (const FrameId frame : recording.stacks.stack(stack)) {
            const bool user
                = originOf(recording.strings[recording.stacks.frame(frame).file]) == FrameOrigin::User;
            if (!query.byLine && (!query.userFramesOnly || user))
                path.push_back(frame.value);
        }
        if (path.empty())
            path.push_back(userFrame(recording, stack).value);
        if (query.order == TreeOrder::TopDown)
            std::reverse(path.begin(), path.end());
        for (std::size_t length = 0; length <= path.size(); ++length)
            costs[{ path.begin(), path.begin() + static_cast<std::ptrdiff_t>(length) }] += cost;
    }
    return costs;
}

PathCosts pathsOf(const CallTree& tree)
{
    std::vector<std::vector<std::uint32_t>> paths(tree.nodes.size());
    PathCosts costs;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const CallTree::Node& node = tree.nodes[i];
        if (i > 0) {
            EXPECT_LT(node.parent, i);
            paths[i] = paths[node.parent];
            paths[i].push_back(node.frame.value);
        }
        std::int64_t children = 0;
        std::int64_t before = std::numeric_limits<std::int64_t>::max();
        for (std::uint32_t child = node.firstChild; child != 0; child = tree.nodes[child].nextSibling) {
            EXPECT_EQ(tree.nodes[child].parent, i);
            EXPECT_LE(tree.nodes[child].total, before) << "heaviest first";
            before = tree.nodes[child].total;
            children += tree.nodes[child].total;
        }
        EXPECT_EQ(node.total, node.self + children);
        if (node.total != 0) {
            EXPECT_TRUE(costs.emplace(paths[i], node.total).second) << "a path stands twice in the tree";
        }
    }
    return costs;
}

} // namespace

TEST(CallTree, TopDownSharesTheBeginnings)
{
    const Opened opened(kThree);
    EXPECT_EQ(treeOf(opened, { .from = 3, .to = 3 }),
        "1100 0 4 root\n"
        "  1000 0 3 m.py:9\n"
        "    500 500 1 a.py:1\n"
        "    300 300 1 b.py:2\n"
        "    200 0 1 b.py:3\n"
        "      200 200 1 a.py:1\n"
        "  100 100 1 none\n");
}

TEST(CallTree, BottomUpBeginsWithWhoAllocates)
{
    const Opened opened(kThree);
    EXPECT_EQ(treeOf(opened, { .from = 3, .to = 3, .order = TreeOrder::BottomUp }),
        "1100 0 4 root\n"
        "  700 0 2 a.py:1\n"
        "    500 500 1 m.py:9\n"
        "    200 0 1 b.py:3\n"
        "      200 200 1 m.py:9\n"
        "  300 0 1 b.py:2\n"
        "    300 300 1 m.py:9\n"
        "  100 100 1 none\n");
}

TEST(CallTree, ByLineIsFlat)
{
    const Opened opened(kThree);
    EXPECT_EQ(treeOf(opened, { .from = 3, .to = 3, .byLine = true }),
        "1100 0 4 root\n  700 700 2 a.py:1\n  300 300 1 b.py:2\n  100 100 1 none\n");
}

/// A name for each block, in the order of birth.
GroupTable groupedBy(Grouping grouping, const Opened& opened, const std::vector<std::string>& names)
{
    auto labels = std::make_shared<BlockLabels>();
    for (std::uint32_t row = 0; row < names.size(); ++row) {
        labels->names.push_back(names[row]);
        labels->rows.born.push_back(row);
    }
    return GroupTable(opened.trace(), grouping, labels);
}

TEST(CallTree, LiesBelowTheGroupsOfItsBlocks)
{
    const Opened opened(kThree);
    const GroupTable groups
        = groupedBy(Grouping::Category, opened, { "activation", "parameter", "gradient", "unknown" });
    const CallTree tree = callTree(opened.timeline(), { 3, 3 }, groups);
    EXPECT_EQ(tree.roots, Grouping::Category);
    EXPECT_EQ(printTree(tree, opened.trace().recording()),
        "1100 0 4 root\n"
        "  500 0 1 [activation]\n"
        "    500 0 1 m.py:9\n"
        "      500 500 1 a.py:1\n"
        "  300 0 1 [parameter]\n"
        "    300 0 1 m.py:9\n"
        "      300 300 1 b.py:2\n"
        "  200 0 1 [gradient]\n"
        "    200 0 1 m.py:9\n"
        "      200 0 1 b.py:3\n"
        "        200 200 1 a.py:1\n"
        "  100 0 1 [unknown]\n"
        "    100 100 1 none\n");
}

TEST(CallTree, HasANodeForEachPartOfTheWayToAModule)
{
    const Opened opened(kThree);
    const GroupTable groups
        = groupedBy(Grouping::Module, opened, { "h.3.attn", "h.3", "h.10.attn", "no module recorded" });
    TreeQuery query{ 3, 3 };
    query.byLine = true;
    EXPECT_EQ(printTree(callTree(opened.timeline(), query, groups), opened.trace().recording()),
        "1100 0 4 root\n"
        "  1000 0 3 [h]\n"
        "    800 0 2 [3]\n"
        "      500 0 1 [attn]\n"
        "        500 500 1 a.py:1\n"
        "      300 300 1 b.py:2\n"
        "    200 0 1 [10]\n"
        "      200 0 1 [attn]\n"
        "        200 200 1 a.py:1\n"
        "  100 0 1 [no module recorded]\n"
        "    100 100 1 none\n");
}

TEST(CallTree, FoldsLibraryFramesIntoTheirCallers)
{
    const Opened opened(R"(
        alloc 0x1000 500 stack=linear@/x/site-packages/torch/nn/linear.py:7|f@a.py:1
        alloc 0x1200 300 stack=malloc@??:0|call@/x/site-packages/torch/_ops.py:3
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated
        block 0x1200 512 req=300 allocated
    )");
    EXPECT_EQ(treeOf(opened, { .from = 1, .to = 1, .userFramesOnly = true }),
        "800 0 2 root\n  500 500 1 a.py:1\n  300 300 1 /x/site-packages/torch/_ops.py:3\n");
}

TEST(CallTree, KeepsTheProgramsOwnCpp)
{
    const Opened opened(R"(
        alloc 0x1000 500 stack="at::empty@/x/libtorch_cpu.so:0|Net::forward@/u/train.cpp:7|main@/u/train.cpp:9|_start@??:0"
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated
    )");
    EXPECT_EQ(treeOf(opened, { .from = 0, .to = 0, .userFramesOnly = true }),
        "500 0 1 root\n  500 0 1 /u/train.cpp:9\n    500 500 1 /u/train.cpp:7\n");
}

TEST(CallTree, SeveralPlacesOfALineAreOneFrame)
{
    auto recording = test::makeRecording(R"(
        alloc 0x1000 500
        alloc 0x1200 300
        segment 0x1000 2097152 small
        block 0x1000 512 req=500 allocated
        block 0x1200 512 req=300 allocated
    )");
    for (const std::size_t event : { 0u, 1u }) {
        Frame frame;
        frame.file = recording->strings.intern("/u/train.cpp");
        frame.function = recording->strings.intern("main");
        frame.line = 9;
        frame.extras
            = recording->strings.intern(fmt::format(R"({{"build_id": "ab", "offset": "0x{}"}})", event));
        const FrameId id = recording->stacks.internFrame(frame);
        recording->devices[0].events.stack.edit(event) = recording->stacks.internStack({ &id, 1 });
    }
    EXPECT_EQ(treeOf(Opened(std::move(recording)), { .from = 1, .to = 1 }),
        "800 0 2 root\n  800 800 2 /u/train.cpp:9\n");
}

TEST(CallTree, CostsOfARange)
{
    const Opened opened(kThree);
    EXPECT_EQ(callTree(opened.timeline(), { .from = 0, .to = 5 }).at, 3);
    EXPECT_EQ(callTree(opened.timeline(), { .from = 0, .to = 5, .cost = TreeCost::Count }).nodes[0].total, 4);
    EXPECT_EQ(
        callTree(opened.timeline(), { .from = 0, .to = 5, .cost = TreeCost::Leaked }).nodes[0].total, 800);
    EXPECT_EQ(
        callTree(opened.timeline(), { .from = 0, .to = 5, .cost = TreeCost::Temporary }).nodes[0].total, 300);
    EXPECT_EQ(
        callTree(opened.timeline(), { .from = 0, .to = 4, .cost = TreeCost::Temporary }).nodes[0].total, 0);
}

TEST(CallTree, AgreesWithOneBlockAtATime)
{
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
        const Opened opened(test::RandomTrace{
            .seed = seed, .events = 1500, .deferredFrees = 0.1, .anomalies = seed == 4 ? 0.01 : 0 });
        const DeviceTimeline& timeline = opened.timeline();
        for (const auto& [from, to] : std::vector<std::pair<EventIndex, EventIndex>>{
                 { -1, -1 }, { 700, 700 }, { -1, 1499 }, { 200, 900 } }) {
            for (const TreeCost cost :
                { TreeCost::Bytes, TreeCost::Count, TreeCost::Leaked, TreeCost::Temporary }) {
                for (int variant = 0; variant < 8; ++variant) {
                    const TreeQuery query{ from, to, cost,
                        variant & 1 ? TreeOrder::BottomUp : TreeOrder::TopDown, (variant & 2) != 0,
                        (variant & 4) != 0 };
                    const CallTree tree = callTree(timeline, query);
                    EXPECT_EQ(pathsOf(tree), naiveTree(timeline, query, tree.at))
                        << seed << ' ' << from << ' ' << to << ' ' << variant;
                }
            }
        }
    }
}

TEST(CallTree, TakesAMillionFramesWithoutRecursion)
{
    auto recording = test::makeRecording("alloc 0x1000 512\nalloc 0x1200 512\nsegment 0x1000 2097152 small\n"
                                         "block 0x1000 512 allocated\nblock 0x1200 512 allocated\n");
    std::vector<FrameId> frames(1'000'000,
        recording->stacks.internFrame(
            { recording->strings.intern("deep.py"), recording->strings.intern("again"), 1, {} }));
    auto& stacks = recording->devices[0].events.stack;
    stacks.edit(0) = recording->stacks.internStack(frames);
    frames.pop_back();
    stacks.edit(1) = recording->stacks.internStack(frames);
    const Opened opened(std::move(recording));
    const CallTree tree = callTree(opened.timeline(), { .from = 1, .to = 1 });
    ASSERT_EQ(tree.nodes.size(), 1'000'001u);
    EXPECT_EQ(tree.nodes[0].total, 1024);
    EXPECT_EQ(tree.nodes.back().total, 512);
}

TEST(CallTree, TakesManyDeepStacks)
{
    constexpr int kBlocks = 20'000;
    auto recording
        = test::makeRecording("alloc 0x1000 512\nsegment 0x1000 512 small\nblock 0x1000 512 allocated\n");
    EventColumns& events = recording->devices[0].events;
    std::vector<FrameId> pool;
    for (int i = 0; i < 1000; ++i)
        pool.push_back(recording->stacks.internFrame(
            { recording->strings.intern("f.py"), recording->strings.intern("f"), i, {} }));
    for (int i = 1; i < kBlocks; ++i) {
        std::vector<FrameId> frames(100, pool[0]);
        for (int depth = 0, rest = i; depth < 100; ++depth, rest = rest / 7 + depth)
            frames[static_cast<std::size_t>(99 - depth)] = pool[static_cast<std::size_t>(rest % 1000)];
        events.action.push_back(Action::Alloc);
        events.address.push_back(0x1000 + static_cast<std::uint64_t>(i) * 512);
        events.bytes.push_back(1);
        events.stack.push_back(recording->stacks.internStack(frames));
        events.stream.push_back(events.stream[0]);
        events.pool.push_back(kNoIndex);
    }
    const Opened opened(std::move(recording));
    const CallTree tree = callTree(opened.timeline(), { .from = kBlocks - 1, .to = kBlocks - 1 });
    EXPECT_EQ(tree.nodes[0].total, opened.timeline().requested().at(kBlocks - 1));
    EXPECT_EQ(tree.nodes[0].blocks, kBlocks);
    EXPECT_TRUE(tree.complete);
}

TEST(CallTree, StopsWhenAsked)
{
    const Opened opened(kThree);
    std::stop_source stop;
    stop.request_stop();
    EXPECT_EQ(callTree(opened.timeline(), { .from = 0, .to = 5, .cost = TreeCost::Leaked }, nullptr,
                  stop.get_token())
                  .nodes.size(),
        1u);
}

} // namespace strata::model
