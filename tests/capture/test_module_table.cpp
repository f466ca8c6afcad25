// SPDX-License-Identifier: GPL-3.0-or-later
#include "capture/agent/program/tensor_table.h"
#include "capture/agent/stacks/module_of_node.h"
#include "capture/agent/stacks/module_table.h"

#include <gtest/gtest.h>

namespace strata::agent {

TEST(ModuleTable, NamesModulesAsPyTorchDoes)
{
    ModuleTable table;
    table.add(1, 0, "", "Gpt");
    table.add(2, 1, "h", "ModuleList");
    table.add(3, 2, "0", "Block");
    table.add(4, 3, "attn", "Attention");
    EXPECT_EQ(table.path(4), "h.0.attn");
    EXPECT_EQ(table.nameIn(4, "weight"), "h.0.attn.weight");
    EXPECT_EQ(table.path(1), "Gpt");
    EXPECT_EQ(table.nameIn(1, "scale"), "scale");
    EXPECT_EQ(table.path(99), std::nullopt);
}

TEST(ModuleTable, TellsSeveralTreesApart)
{
    ModuleTable table;
    table.add(1, 0, "", "Net");
    table.add(2, 1, "0", "Linear");
    table.add(3, 0, "", "Net");
    table.add(4, 3, "0", "Linear");
    table.add(5, 0, "", "Net");
    table.add(6, 5, "0", "Linear");
    EXPECT_EQ(table.path(2), "0");
    EXPECT_EQ(table.path(4), "Net.0");
    EXPECT_EQ(table.path(6), "Net#2.0");
    EXPECT_EQ(table.path(3), "Net");
}

TEST(ModuleTable, AModuleOfSeveralIsNamedByTheFirstInTheTreeItCameIntoLast)
{
    ModuleTable table;
    for (const std::uint64_t root : { 1u, 2u, 3u })
        table.add(root, 0, "", "Stack");
    table.add(9, 1, "shared", "Embedding");
    table.add(9, 2, "embed", "Embedding");
    table.add(2, 1, "encoder", "Stack");
    EXPECT_EQ(table.path(9), "shared") << "as named_parameters() has it";
    const std::uint64_t before = table.generation();
    table.add(9, 3, "0", "Embedding");
    EXPECT_NE(table.generation(), before);
    EXPECT_EQ(table.path(9), "Stack.0") << "it went into another tree";
}

TEST(ModuleTable, AWrapperTakesTheNameOfWhatItWraps)
{
    ModuleTable table;
    table.add(1, 0, "", "Net");
    table.add(2, 1, "tower", "ModuleList");
    table.add(3, 2, "0", "Block");
    table.add(4, 3, "up", "Linear");
    table.add(5, 0, "", "Checkpointed");
    table.add(3, 5, "body", "Block");
    table.add(5, 2, "0", "Checkpointed");
    EXPECT_EQ(table.path(4), "tower.0.body.up");
    EXPECT_EQ(table.path(3), "tower.0.body");
    EXPECT_EQ(table.path(5), "tower.0");
    table.add(3, 2, "0", "Block");
    EXPECT_EQ(table.path(3), "tower.0") << "and back";
}

TEST(ModuleTable, AnAddressThatIsUsedAgainIsAnotherModule)
{
    ModuleTable table;
    table.add(1, 0, "", "Net");
    table.add(2, 1, "old", "Linear");
    table.remove(2);
    EXPECT_EQ(table.path(2), "old") << "until it is another one";
    table.add(2, 0, "", "Linear");
    EXPECT_EQ(table.path(2), "Linear");
    table.remove(1);
    table.add(7, 0, "", "Other");
    table.add(8, 7, "0", "Linear");
    EXPECT_EQ(table.path(8), "0") << "the first tree is gone";
}

TEST(ModuleTable, APartOfWhatIsGoneIsNoPartOfItsSuccessor)
{
    ModuleTable table;
    table.add(1, 0, "", "Net");
    table.add(2, 1, "backbone", "Backbone");
    table.add(9, 0, "", "Sequential");
    table.add(2, 9, "0", "Backbone");
    EXPECT_EQ(table.path(2), "0") << "the tree that it came into last";
    const std::uint64_t before = table.generation();
    table.remove(9);
    EXPECT_NE(table.generation(), before);
    EXPECT_EQ(table.path(2), "backbone");
    table.add(9, 0, "", "Other");
    EXPECT_EQ(table.path(2), "backbone") << "the address is another module's";
}

TEST(ModuleTable, ARootThatIsWrappedLeavesItsPlaceToTheWrapper)
{
    ModuleTable table;
    table.add(1, 0, "", "Net");
    table.add(2, 1, "line", "Linear");
    EXPECT_EQ(table.path(2), "line");
    table.add(3, 0, "", "DistributedDataParallel");
    table.add(1, 3, "module", "Net");
    EXPECT_EQ(table.path(2), "module.line");
    table.add(4, 0, "", "Net");
    EXPECT_EQ(table.nameIn(4, "weight"), "Net.weight");
    table.remove(3);
    EXPECT_EQ(table.path(2), "line");
    for (int step = 0; step < 3; ++step) {
        table.add(5, 0, "", "Net");
        EXPECT_EQ(table.nameIn(5, "weight"), "Net#2.weight") << "one that is made in each step";
        table.remove(5);
    }
}

TEST(ModuleTable, ForgetsModulesThatAreLongGone)
{
    ModuleTable table;
    for (std::uint64_t module = 1; module <= 70'000; ++module) {
        table.add(module, 0, "", "Replica");
        table.remove(module);
    }
    EXPECT_EQ(table.path(1), std::nullopt);
    EXPECT_EQ(table.path(70'000), "Replica");
}

TEST(ModuleTable, APartOfItselfHasAnEnd)
{
    ModuleTable table;
    table.add(1, 2, "a", "A");
    table.add(2, 1, "b", "B");
    EXPECT_TRUE(table.path(1).has_value());
}

TEST(ModuleOfNode, FindsTheModuleOfTheNodeOrOfTheLastBeforeIt)
{
    ModuleOfNode modules;
    modules.put(100, 0x10);
    modules.put(103, 0x20);
    EXPECT_EQ(modules.find(100), 0x10u);
    EXPECT_EQ(modules.find(102), 0x10u) << "a view: its call allocated nothing";
    EXPECT_EQ(modules.find(103), 0x20u);
    EXPECT_EQ(modules.find(99), 0u);
    EXPECT_EQ(modules.find(200), 0u) << "too far";
    EXPECT_EQ(modules.find(0), 0u);
    modules.put(103, 0x99);
    EXPECT_EQ(modules.find(103), 0x20u) << "what allocates without a node is behind another one's";
    modules.put(104, 0);
    EXPECT_EQ(modules.find(105), 0u) << "the loss, outside of all modules";
    constexpr std::uint64_t kOtherThread = std::uint64_t{ 3 } << hook::kNodeCountBits;
    EXPECT_EQ(modules.find(kOtherThread | 100), 0u);
    modules.put(kOtherThread | 100, 0x30);
    EXPECT_EQ(modules.find(kOtherThread | 100), 0x30u);
    EXPECT_EQ(modules.find(100), 0x10u) << "threads that count alike leave each other's";
}

TEST(TensorTable, KnowsWhatStandsForARecordingThatBeginsLater)
{
    TensorTable table;
    const std::uint32_t weight = table.add({ .device = 1, .name = "weight" });
    const std::uint32_t bias = table.add({ .name = "bias" });
    EXPECT_EQ(table.place(weight, 0x100)->tensor->name, "weight");
    EXPECT_EQ(table.place(bias, 0x200)->address, 0x200u);
    EXPECT_FALSE(table.place(0, 1));
    EXPECT_FALSE(table.place(bias + 1, 1));
    EXPECT_EQ(table.standing().size(), 2u);
    (void)table.place(bias, 0);
    ASSERT_EQ(table.standing().size(), 1u);
    EXPECT_EQ(table.standing()[0].address, 0x100u);
    EXPECT_EQ(table.addOptimizer(), 0u);
    EXPECT_EQ(table.addOptimizer(), 1u);
}

TEST(TensorTable, NumbersOptimizersWhereTheProgramTellsOfNone)
{
    TensorTable table;
    const int one = 0, other = 0;
    EXPECT_EQ(table.unlistedOptimizer(&one), 0u);
    EXPECT_EQ(table.unlistedOptimizer(&other), 1u);
    EXPECT_EQ(table.unlistedOptimizer(&one), 0u);
    EXPECT_EQ(table.addOptimizer(), 2u);
    EXPECT_FALSE(table.unlistedOptimizer(&one)) << "it tells itself";
}

TEST(TensorTable, KnowsATensorThatIsToldAgain)
{
    TensorTable table;
    const std::uint32_t small = table.add({ .name = "rows", .elements = 3 });
    const std::uint32_t large = table.add({ .name = "rows", .elements = 4 });
    EXPECT_NE(small, large);
    for (int step = 0; step < 3; ++step) {
        EXPECT_EQ(table.add({ .name = "rows", .elements = 3 }), small);
        EXPECT_EQ(table.add({ .name = "rows", .elements = 4 }), large);
    }
    EXPECT_EQ(table.refused(), 0u);
}

} // namespace strata::agent
