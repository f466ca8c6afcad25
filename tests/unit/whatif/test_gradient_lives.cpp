// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings in a few events with zero_grad() elsewhere.
#include "model/whatif/gradient_lives.h"

#include "model/whatif/alternatives.h"
#include "model/whatif/predict.h"
#include "model/whatif/rewrites.h"
#include "tests/unit/whatif/layered_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace strata::model {

using test::LayeredTraining;

namespace {

const std::string kParameters = "+400 +40 +400 +40 +200 ";
const std::string kForward = "+64 +100 +101 +20 ";
const std::string kBackward = "+200 -20 +400 +40 -101 +400 +40 -100 +8 -8 ";
const std::string kZero = "-400 -40 -400 -40 -200 ";

std::string with(const LayeredTraining& training, ZeroGradPlace place)
{
    const auto edits = gradientEdits(training.run(), place);
    EXPECT_TRUE(edits) << edits.error().text();
    return edits ? training.with(*edits) : std::string();
}

} // namespace

TEST(GradientLives, AreOfWords)
{
    EXPECT_EQ(zeroGradPlace("after-step"), ZeroGradPlace::AfterStep);
    EXPECT_EQ(zeroGradPlace("before-backward"), ZeroGradPlace::BeforeBackward);
    EXPECT_FALSE(zeroGradPlace("last"));
    EXPECT_TRUE(Change::parse("zero_grad=before-forward"));
    EXPECT_EQ(Change::parse("zero_grad=none").error().kind, Error::Kind::Usage);
}

TEST(GradientLives, GoWhereZeroGradStands)
{
    // It stands behind the step: there is nothing to change, and nobody is told to.
    const LayeredTraining training({});
    const std::string step = kForward + kBackward + kZero + "-64 ";
    EXPECT_EQ(with(training, ZeroGradPlace::AfterStep), kParameters + step + step + step + step);
    EXPECT_TRUE(gradientEdits(training.run(), ZeroGradPlace::AfterStep)->empty());
    const auto isZeroGrad = [](const Scenario& one) {
        return !one.changes.empty() && one.changes.front().kind == Change::Kind::ZeroGrad;
    };
    EXPECT_TRUE(std::ranges::none_of(alternativesTo(training.run()), isZeroGrad));
    // Before the next forward nothing is asked for either.
    EXPECT_TRUE(gradientEdits(training.run(), ZeroGradPlace::BeforeForward)->empty());
    // Before backward they are there while forward computes; behind the last step nothing is asked for.
    const std::string late = kForward + kBackward + "-64 ";
    const std::string then = kForward + kZero + kBackward;
    EXPECT_EQ(with(training, ZeroGradPlace::BeforeBackward),
        kParameters + late + then + "-64 " + then + "-64 " + then + kZero + "-64 ");
    const Prediction more = predict({ training.run() },
        { .changes = { *Change::parse("zero_grad=before-backward") }, .settings = {}, .capacityBytes = {} })
                                .value();
    EXPECT_EQ(more.evidence, WhatIfEvidence::Roles);
    EXPECT_EQ(more.recorded.requestedBytesPeak, 2324);
    EXPECT_EQ(more.predicted->requestedBytesPeak, 2445); // 1,080 B of gradients while forward has its 285 B
    ASSERT_FALSE(more.uses.empty());
    EXPECT_EQ(more.uses.front().rule, BlockRule::Zeroed);
}

TEST(GradientLives, ThatStepsKeepAreRefused)
{
    const LayeredTraining keeping({ .keeps = true });
    const auto refused = gradientEdits(keeping.run(), ZeroGradPlace::AfterStep);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text().find("keeps its gradients"), std::string::npos);
    for (const char* const other : { "ddp=8", "accumulate=4" })
        EXPECT_FALSE(
            goTogether({ .changes = { *Change::parse("zero_grad=after-step"), *Change::parse(other) },
                .settings = {},
                .capacityBytes = {} }))
            << other;
}

} // namespace strata::model
