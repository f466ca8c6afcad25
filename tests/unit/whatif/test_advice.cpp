// SPDX-License-Identifier: GPL-3.0-or-later
// What advice is worth is held against real recordings: tests/truth/test_plan.py.
#include "model/whatif/advice.h"

#include <gtest/gtest.h>

namespace strata::model {

TEST(Advice, IsLookedForWhereItIsWorthIt)
{
    EXPECT_TRUE(isWorthAdvice(1'000, 1, std::nullopt, false));
    EXPECT_FALSE(isWorthAdvice(0, 1, std::nullopt, true));
    EXPECT_FALSE(isWorthAdvice(100'000, 80, 100, false));
    EXPECT_TRUE(isWorthAdvice(100'000, 95, 100, false));
    EXPECT_TRUE(isWorthAdvice(100'000, 80, 100, true));
    EXPECT_FALSE(isWorthAdvice(10'000'000, 95, 100, true));
}

TEST(Advice, IsSaidAsACommandAndASentence)
{
    Advice advice;
    advice.scenario.changes.push_back(*Change::parse("batch=x0.5"));
    advice.prediction.recorded = { 0, 0, std::int64_t{ 20 } << 30 };
    advice.prediction.most = { 0, 0, std::int64_t{ 12 } << 30 };
    advice.prediction.batchBefore = 8;
    EXPECT_EQ(advice.words(), (std::vector<std::string>{ "--change", "batch=x0.5", "--batch-of", "8" }));
    EXPECT_EQ(
        advice.sentence().text(), "with batch=x0.5 it would reserve 12.0 GiB at most instead of 20.0 GiB");
    advice.scenario = { .changes = {}, .settings = "expandable_segments:True", .capacityBytes = {} };
    advice.prediction.predicted = advice.prediction.most;
    advice.prediction.batchBefore.reset();
    EXPECT_EQ(advice.words(), (std::vector<std::string>{ "--set", "expandable_segments:True" }));
    EXPECT_EQ(advice.sentence().text(),
        "with PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True it would reserve about 12.0 GiB instead of "
        "20.0 GiB");
}

} // namespace strata::model
