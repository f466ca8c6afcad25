// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/tables/flame_tree.h"

#include "tests/gui/tables/device_data.h"

using namespace strata;
using strata::test::deviceData;
using strata::views::FlameTree;
using strata::views::JobContext;

namespace {

constexpr auto kProgram = R"(
alloc 0x1000 600 stack=attention@model.py:20|forward@model.py:10|main@train.py:5
alloc 0x2000 300 stack=mlp@model.py:30|forward@model.py:10|main@train.py:5
alloc 0x3000 100 stack=step@optim.py:9|main@train.py:6
)";

FlameTree treeOfText(std::string_view text, const model::TreeQuery& query)
{
    const auto device = deviceData(text);
    return FlameTree(device->session, model::callTree(*device->timeline, query));
}

std::vector<std::string> names(const FlameTree& tree, FlameTree::Node node)
{
    std::vector<std::string> result;
    for (const FlameTree::Node child : tree.children(node))
        result.push_back(tree.function(child).toStdString());
    return result;
}

TEST(FlameTree, OrdersChildrenByCostOnOneAxis)
{
    const FlameTree tree = treeOfText(kProgram, { 2, 2 });
    EXPECT_EQ(tree.total(0), 1000);
    EXPECT_EQ(tree.maxDepth(), 3);
    ASSERT_EQ(tree.children(0).size(), 2u); // main at line 5 and at line 6 are two frames
    const FlameTree::Node main = tree.children(0)[0];
    const FlameTree::Node forward = tree.children(main)[0];
    EXPECT_EQ(names(tree, forward), (std::vector<std::string>{ "attention", "mlp" }));
    EXPECT_EQ(tree.begin(tree.children(forward)[1]), 600);
    EXPECT_EQ(tree.begin(tree.children(0)[1]), 900);
    EXPECT_EQ(tree.rank(tree.children(forward)[1]), 1u);
    EXPECT_EQ(tree.depth(tree.children(forward)[1]), 3);
    EXPECT_TRUE(tree.isAncestor(main, tree.children(forward)[1]));
    EXPECT_FALSE(tree.isAncestor(tree.children(0)[1], forward));
}

TEST(FlameTree, FindsTheChildAtAPlace)
{
    const FlameTree tree = treeOfText(kProgram, { 2, 2 });
    EXPECT_EQ(tree.childAt(0, 0), tree.children(0)[0]);
    EXPECT_EQ(tree.childAt(0, 899.5), tree.children(0)[0]);
    EXPECT_EQ(tree.childAt(0, 900), tree.children(0)[1]);
    EXPECT_EQ(tree.childAt(0, 1000), std::nullopt);
    EXPECT_EQ(tree.childrenOfAtLeast(0, 100), 2u);
    EXPECT_EQ(tree.childrenOfAtLeast(0, 101), 1u);
}

TEST(FlameTree, CountsWhatIsFoundOnce)
{
    const FlameTree tree = treeOfText(kProgram, { 2, 2 });
    const FlameTree::Matches model = tree.find(QStringLiteral("MODEL.py"), JobContext());
    EXPECT_EQ(model.cost, 900); // forward and what is below it, not twice
    EXPECT_EQ(model.nodes, 3);
    EXPECT_EQ(tree.find(QStringLiteral("mlp"), JobContext()).cost, 300);
    EXPECT_EQ(tree.find(QStringLiteral("nothing"), JobContext()).nodes, 0);
    EXPECT_TRUE(tree.find(QString(), JobContext()).hits.empty());
}

TEST(FlameTree, WritesFoldedStacks)
{
    const FlameTree tree = treeOfText(kProgram, { 2, 2 });
    EXPECT_EQ(tree.folded(1 << 20, JobContext()),
        "main (train.py:5);forward (model.py:10);attention (model.py:20) 600\n"
        "main (train.py:5);forward (model.py:10);mlp (model.py:30) 300\n"
        "main (train.py:6);step (optim.py:9) 100\n");
}

TEST(FlameTree, FindsTheSameFramesInAnotherTree)
{
    const auto device = deviceData(kProgram);
    const FlameTree all(device->session, model::callTree(*device->timeline, { 2, 2 }));
    const FlameTree early(device->session, model::callTree(*device->timeline, { 0, 0 }));
    const FlameTree::Node forward = all.children(all.children(0)[0])[0];
    EXPECT_EQ(early.function(all.counterpart(early, forward)), QStringLiteral("forward"));
    const FlameTree::Node mlp = all.children(forward)[1]; // not there yet: its caller stands for it
    EXPECT_EQ(early.function(all.counterpart(early, mlp)), QStringLiteral("forward"));
    EXPECT_EQ(all.counterpart(early, all.children(0)[1]), 0u);
}

TEST(FlameTree, NamesWhatHasNoStack)
{
    const FlameTree tree = treeOfText("alloc 0x1000 512", { 0, 0 });
    ASSERT_EQ(tree.size(), 2u);
    EXPECT_EQ(tree.function(1), QStringLiteral("no stack recorded"));
    EXPECT_EQ(tree.place(1), QString());
    EXPECT_EQ(tree.function(0), QStringLiteral("all"));
}

TEST(FlameTree, AnEmptyTreeIsARootAlone)
{
    const FlameTree tree = treeOfText("alloc 0x1000 512", { -1, -1 });
    EXPECT_EQ(tree.size(), 1u);
    EXPECT_EQ(tree.total(0), 0);
    EXPECT_EQ(tree.childAt(0, 0), std::nullopt);
    EXPECT_EQ(tree.folded(1 << 20, JobContext()), "");
}

TEST(FlameTree, LooksAreThoseOfTheFile)
{
    const FlameTree tree = treeOfText(R"(
alloc 0x1000 600 stack=a@/home/x/model.py:20
alloc 0x2000 300 stack=b@/srv/y/model.py:30
alloc 0x3000 200 stack=c@/usr/lib/python3/site-packages/torch/nn/linear.py:9
)",
        { 2, 2 });
    ASSERT_EQ(tree.children(0).size(), 3u);
    EXPECT_TRUE(tree.look(1).own);
    EXPECT_EQ(tree.look(tree.children(0)[0]).file, tree.look(tree.children(0)[1]).file);
    EXPECT_FALSE(tree.look(tree.children(0)[2]).own);
}

/// Of kProgram, by category or module.
FlameTree treeBelow(model::Grouping grouping, std::vector<std::string> names)
{
    const auto device = deviceData(kProgram);
    auto labels = std::make_shared<model::BlockLabels>();
    labels->names = std::move(names);
    for (std::uint32_t row = 0; row < labels->names.size(); ++row)
        labels->rows.born.push_back(row);
    const model::GroupTable groups(*device->trace, grouping, labels);
    return FlameTree(device->session, model::callTree(*device->timeline, { 2, 2 }, groups));
}

TEST(FlameTree, NamesTheGroupsBelowItsRoot)
{
    const FlameTree tree
        = treeBelow(model::Grouping::Category, { "activation", "parameter", "optimizer_state" });
    EXPECT_EQ(tree.total(0), 1000);
    EXPECT_EQ(names(tree, 0), (std::vector<std::string>{ "Activations", "Parameters", "Optimizer state" }));
    const FlameTree::Node activations = tree.children(0)[0];
    EXPECT_TRUE(tree.isGroup(activations));
    EXPECT_EQ(tree.group(activations), "activation");
    EXPECT_EQ(tree.place(activations), QString());
    EXPECT_EQ(tree.group(tree.children(activations)[0]), std::nullopt);
    EXPECT_EQ(names(tree, activations), std::vector<std::string>{ "main" });
}

TEST(FlameTree, KnowsThePathOfAModuleAndFindsItAgain)
{
    const FlameTree tree
        = treeBelow(model::Grouping::Module, { "h.0.attn", "h.0.mlp", "no module recorded" });
    EXPECT_EQ(names(tree, 0), (std::vector<std::string>{ "h", "no module recorded" }));
    const FlameTree::Node block = tree.children(tree.children(0)[0])[0];
    EXPECT_EQ(tree.group(block), "h.0");
    EXPECT_EQ(tree.total(block), 900);
    EXPECT_EQ(names(tree, block), (std::vector<std::string>{ "attn", "mlp" }));
    const FlameTree other = treeBelow(model::Grouping::Module, { "wte", "h.0.attn", "h.0.mlp" });
    EXPECT_EQ(other.group(tree.counterpart(other, tree.children(block)[1])), "h.0.mlp");
    const FlameTree::Matches found = tree.find(QStringLiteral("ATTN"), JobContext());
    EXPECT_EQ(found.cost, 600);
    EXPECT_TRUE(found.hits[tree.children(block)[0]]);
}

} // namespace
