// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame/flame_layout.h"

#include "tests/gui/tables/device_data.h"

#include <algorithm>

using namespace strata;
using strata::test::deviceData;
using namespace strata::views;

namespace {

FlameTree randomTree()
{
    test::RandomTrace options;
    options.events = 4000;
    options.stacks = 400;
    const auto device = deviceData(test::randomRecording(options));
    return FlameTree(
        device->session, model::callTree(*device->timeline, { -1, 3999, model::TreeCost::Temporary }));
}

FlameWindow all(const FlameTree& tree, double width)
{
    return { 0, static_cast<double>(tree.total(0)), width, 0, 1000 };
}

TEST(FlameLayout, GivesEveryFrameItsExactWidth)
{
    const FlameTree tree = randomTree();
    const FlameWindow window = all(tree, 1000);
    for (const FlameBox& box : layOutFlame(tree, window)) {
        if (box.merged > 0)
            continue;
        EXPECT_NEAR(box.x1 - box.x0,
            static_cast<double>(tree.total(box.node)) * 1000 / static_cast<double>(tree.total(0)), 1e-6);
        EXPECT_EQ(box.depth, tree.depth(box.node));
        EXPECT_GE(box.x1 - box.x0, kNarrowestFrame);
    }
}

TEST(FlameLayout, BoxesOfALevelDoNotOverlapAndLieInTheirParents)
{
    const FlameTree tree = randomTree();
    std::vector<FlameBox> boxes = layOutFlame(tree, all(tree, 700));
    std::stable_sort(boxes.begin(), boxes.end(), [](const FlameBox& a, const FlameBox& b) {
        return a.depth != b.depth ? a.depth < b.depth : a.x0 < b.x0;
    });
    for (std::size_t i = 1; i < boxes.size(); ++i) {
        if (boxes[i].depth == boxes[i - 1].depth) {
            EXPECT_GE(boxes[i].x0, boxes[i - 1].x1 - 1e-6);
        }
        const FlameTree::Node parent = tree.parent(boxes[i].node);
        const FlameWindow window = all(tree, 700);
        EXPECT_GE(boxes[i].x0, window.xOf(static_cast<double>(tree.begin(parent))) - 1e-6);
    }
}

TEST(FlameLayout, CountsEveryFrameOnce)
{
    const FlameTree tree = randomTree();
    std::size_t drawn = 0;
    std::size_t below = 0; // frames under those put together, which are not looked at
    for (const FlameBox& box : layOutFlame(tree, all(tree, 1e9)))
        drawn += box.merged > 0 ? box.merged : 1;
    EXPECT_EQ(drawn + below, tree.size());
}

TEST(FlameLayout, PutsNarrowSiblingsTogetherWithTheirNumber)
{
    std::string text = "alloc 0x100000 1000000 stack=big@a.py:1\n";
    for (int i = 0; i < 50; ++i)
        text += "alloc " + std::to_string(0x200000 + i * 4096)
            + " 10 stack=small@b.py:" + std::to_string(i + 1) + "\n";
    const auto device = deviceData(text);
    const FlameTree tree(device->session, model::callTree(*device->timeline, { 50, 50 }));
    ASSERT_EQ(tree.children(0).size(), 51u);
    const FlameWindow narrow{ 0, 1000500, 2000, 0, 3 };
    std::vector<FlameBox> boxes = layOutFlame(tree, narrow);
    ASSERT_EQ(boxes.size(), 3u);
    EXPECT_EQ(boxes[2].merged, 50u);
    EXPECT_NEAR(boxes[2].x1, 2000, 1e-6);
    // Zoomed in, they are frames of their own.
    boxes = layOutFlame(tree, { 1000000, 1000500, 2000, 0, 3 });
    EXPECT_EQ(boxes.size(), 51u);
}

TEST(FlameLayout, LaysOutNoMoreThanWhatIsSeen)
{
    const FlameTree tree = randomTree();
    const double whole = static_cast<double>(tree.total(0));
    const FlameWindow part{ whole * 0.25, whole * 0.3, 300, 1, 2 };
    for (const FlameBox& box : layOutFlame(tree, part)) {
        EXPECT_GT(box.x1, 0);
        EXPECT_LT(box.x0, 300);
        EXPECT_GE(box.depth, 1);
        EXPECT_LE(box.depth, 2);
    }
}

TEST(FlameLayout, FindsTheBoxUnderEveryPixel)
{
    const FlameTree tree = randomTree();
    const FlameWindow window = all(tree, 500);
    const std::vector<FlameBox> boxes = layOutFlame(tree, window);
    for (int depth = 0; depth <= tree.maxDepth(); ++depth) {
        for (int x = 0; x < 500; ++x) {
            const double at = x + 0.5;
            const auto drawn = std::find_if(boxes.begin(), boxes.end(),
                [&](const FlameBox& box) { return box.depth == depth && box.x0 <= at && at < box.x1; });
            const std::optional<FlameBox> found = flameBoxAt(tree, window, at, depth);
            if (drawn != boxes.end()) {
                ASSERT_TRUE(found.has_value()) << x << ' ' << depth;
                EXPECT_EQ(found->node, drawn->node);
                EXPECT_EQ(found->merged, drawn->merged);
            } else if (found) {
                EXPECT_LT(found->x1 - found->x0, kNarrowestFrame); // too narrow to be drawn at all
            }
        }
    }
    EXPECT_FALSE(flameBoxAt(tree, window, -3, 0).has_value());
    EXPECT_FALSE(flameBoxAt(tree, window, 10, tree.maxDepth() + 1).has_value());
}

TEST(FlameLayout, AnEmptyTreeOrWindowHasNoBoxes)
{
    const auto device = deviceData("alloc 0x1000 512");
    const FlameTree empty(device->session, model::callTree(*device->timeline, { -1, -1 }));
    EXPECT_TRUE(layOutFlame(empty, all(empty, 100)).empty());
    EXPECT_TRUE(layOutFlame(randomTree(), { 5, 5, 100, 0, 3 }).empty());
}

} // namespace
