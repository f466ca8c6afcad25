// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/costs/least_step.h"

#include <gtest/gtest.h>

using namespace strata::model;

namespace {

/// As capture/dryrun/step_work.h has it: a product of bf16, a fused optimizer's list, and what nobody knows.
constexpr std::string_view kText = R"({"version": 1, "process": 77, "step": 4, "steps": 6, "step_ns": 5000000,
"steps_timed": 2, "problem": null, "launches": 20, "operators": [
{"name": "aten::mm", "Input Dims": [[4096, 4096], [4096, 4096]], "Input Strides": [[4096, 1], [4096, 1]],
 "Input type": ["c10::BFloat16", "c10::BFloat16"], "Concrete Inputs": ["", ""], "Input List Types": [[], []],
 "calls": 3, "launches": 3},
{"name": "aten::_foreach_mul_", "Input Dims": [[[1048576], [1048576]], []], "Input Strides": [[[1], [1]], []],
 "Input type": ["TensorList", "Scalar"], "Concrete Inputs": ["", "0.9"], "Input List Types": [["float", "float"], []],
 "calls": 1, "launches": 2},
{"name": "my::kernel", "Input Dims": [[9]], "Input Strides": [[1]], "Input type": ["float"],
 "Concrete Inputs": [""], "Input List Types": [[]], "calls": 4, "launches": 8}],
"collectives": [{"name": "AllReduce_Sum_f32", "calls": 2, "bytes": 4096}]})";

LaunchedStep step()
{
    auto read = readLaunchedStep(kText);
    EXPECT_TRUE(read) << read.error().text();
    return read.value_or(LaunchedStep{});
}

TEST(LaunchedStep, HoldsWhatStandsThere)
{
    const LaunchedStep read = step();
    EXPECT_EQ(read.process, 77);
    EXPECT_EQ(read.step, 4);
    EXPECT_EQ(read.steps, 6);
    EXPECT_EQ(read.stepNs, 5000000);
    EXPECT_EQ(read.stepsTimed, 2);
    EXPECT_EQ(read.problem, "");
    EXPECT_EQ(read.launches, 20);
    ASSERT_EQ(read.operators.size(), 3u);
    EXPECT_EQ(read.operators[0].name, "aten::mm");
    EXPECT_EQ(read.operators[0].calls, 3);
    EXPECT_EQ(read.operators[1].listTypes, R"([["float","float"],[]])");
    ASSERT_EQ(read.collectives.size(), 1u);
    EXPECT_EQ(read.collectives[0].bytes, 4096);
}

TEST(LaunchedStep, WhatIsNoneIsRefusedOrLeftOut)
{
    for (const char* text : { "", "{", "[]", "{}", R"({"version": 2})", R"({"version": "1"})" })
        EXPECT_FALSE(readLaunchedStep(text)) << text;
    const auto odd = readLaunchedStep(
        R"({"version": 1, "step": "x", "operators": [7, {"name": 3, "calls": 1e99}], "collectives": {}})");
    ASSERT_TRUE(odd);
    EXPECT_FALSE(odd->step);
    ASSERT_EQ(odd->operators.size(), 1u);
    EXPECT_EQ(odd->operators[0].name, "");
    EXPECT_TRUE(odd->collectives.empty());
    EXPECT_EQ(leastStepOn(*odd, *findCard("A100-80GB")).leastNs, 0);
}

/// By hand: 2 x 4096^3 FLOPs a product, at 312e12 a second.
TEST(LeastStep, AddsUpCallsOfKnownCost)
{
    const Card& card = *findCard("A100-80GB");
    const LeastStep least = leastStepOn(step(), card);
    ASSERT_EQ(least.kinds.size(), 2u);
    const LeastKind& products = least.kinds[0];
    EXPECT_EQ(products.kind, CostKind::MatrixProduct);
    EXPECT_EQ(products.calls, 3);
    EXPECT_DOUBLE_EQ(products.flops, 3 * 2.0 * 4096 * 4096 * 4096);
    EXPECT_DOUBLE_EQ(products.flopsInFull, products.flops);
    EXPECT_DOUBLE_EQ(products.bytes, 3 * 3.0 * 2 * 4096 * 4096);
    EXPECT_NEAR(products.rooflineNs, products.flops / 312e12 * 1e9, 1);
    EXPECT_LE(products.leastNs, products.rooflineNs);
    EXPECT_GT(products.leastNs, 0.8 * products.rooflineNs);
    EXPECT_DOUBLE_EQ(least.flops, products.flops);
    EXPECT_DOUBLE_EQ(least.leastNs, products.leastNs + least.kinds[1].leastNs);
}

/// The type of a list is told apart: two lists of 1 Mi floats are read and written.
TEST(LeastStep, KnowsTheTypesOfLists)
{
    LaunchedStep launched = step();
    const LeastStep least = leastStepOn(launched, *findCard("A100-80GB"));
    ASSERT_EQ(least.kinds.size(), 2u);
    EXPECT_EQ(least.kinds[1].launches, 2);
    EXPECT_DOUBLE_EQ(least.kinds[1].bytes, 2.0 * 2 * 4 * 1048576);
    launched.operators[1].listTypes.clear();
    EXPECT_EQ(leastStepOn(launched, *findCard("A100-80GB")).unknown.size(), 2u);
}

TEST(LeastStep, WhatIsNotKnownIsCountedApart)
{
    const LeastStep least = leastStepOn(step(), *findCard("A100-80GB"));
    ASSERT_EQ(least.unknown.size(), 1u);
    EXPECT_EQ(least.unknown[0].name, "my::kernel");
    EXPECT_EQ(least.unknown[0].launches, 8);
    EXPECT_EQ(least.outsideLaunches, 20 - 3 - 2 - 8);
    EXPECT_EQ(least.unknownLaunches, 8 + least.outsideLaunches);
}

TEST(LeastStep, DevicesShareIt)
{
    const Card& card = *findCard("H100-80GB");
    EXPECT_DOUBLE_EQ(leastStepOn(step(), card, 4).leastNs, leastStepOn(step(), card).leastNs / 4);
    EXPECT_DOUBLE_EQ(leastStepOn(step(), card, 4).flops, leastStepOn(step(), card).flops);
}

} // namespace
