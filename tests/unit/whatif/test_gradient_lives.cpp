// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings in a few events with zero_grad() elsewhere.
#include "model/whatif/kinds/gradient_lives.h"

#include "model/whatif/answer/predict.h"
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/kinds/go_together.h"
#include "model/whatif/plan/alternatives.h"
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
        return !one.changes.empty() && one.changes.front().kind->word == "zero_grad";
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
    EXPECT_NE(refused.error().text().find("steps keep gradients"), std::string::npos);
    for (const char* const other : { "ddp=8", "accumulate=4" })
        EXPECT_FALSE(
            goTogether({ .changes = { *Change::parse("zero_grad=after-step"), *Change::parse(other) },
                .settings = {},
                .capacityBytes = {} }))
            << other;
}

TEST(InBackward, StepsAndLetsGoAsGradientsCome)
{
    const auto asked = [](const LayeredTraining& training, const char* change) {
        return predict({ training.run() },
            { .changes = { *Change::parse(change) }, .settings = {}, .capacityBytes = {} });
    };
    const char* const plain = "optimizer=SGD,momentum=0,in_backward=True";
    const LayeredTraining training({ .clips = false });
    const auto answer = asked(training, plain);
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_EQ(answer->evidence, WhatIfEvidence::Roles);
    ASSERT_EQ(answer->uses.size(), 1U);
    EXPECT_EQ(answer->uses.front().rule, BlockRule::Zeroed);
    EXPECT_EQ(answer->uses.front().blocks, 20); // five parameters, four steps
    EXPECT_EQ(answer->uses.front().bytes, 4 * 1080);
    const std::string step = kForward + "+200 -20 -200 +400 +40 -101 -400 -40 +400 +40 -100 -400 -40 -64 ";
    EXPECT_EQ(LayeredTraining::textOf(*answer->run), kParameters + step + step + step + step);
    // With a state of each parameter, made in its first step, and no gradients together.
    const auto more = asked(training, "optimizer=SGD,momentum=0.9,in_backward=True");
    ASSERT_TRUE(more) << more.error().text();
    const std::string text = LayeredTraining::textOf(*more->run);
    EXPECT_TRUE(
        text.starts_with(kParameters + kForward + "+200 -20 +200 -200 +400 +40 -101 +400 -400 +40 -40 "))
        << text;
    EXPECT_TRUE(text.ends_with(step)) << text;
    // They go with the optimizer.
    const LayeredTraining ending({ .letsGo = true, .clips = false });
    const auto ended = asked(ending, "optimizer=SGD,momentum=0.9,in_backward=True");
    ASSERT_TRUE(ended) << ended.error().text();
    EXPECT_TRUE(LayeredTraining::textOf(*ended->run).ends_with(step + "-200 -400 -40 -400 -40 +16 "))
        << LayeredTraining::textOf(*ended->run);
    // False is as it is without.
    const auto behind = asked(training, "optimizer=SGD,momentum=0,in_backward=False");
    ASSERT_TRUE(behind);
    EXPECT_EQ(behind->predicted->requestedBytesPeak, behind->recorded.requestedBytesPeak);
}

TEST(InBackward, NamesWhatItIsNotKnownFor)
{
    const auto refused = [](const LayeredTraining::Options& options) {
        const LayeredTraining training(options);
        const auto answer = predict({ training.run() },
            { .changes = { *Change::parse("optimizer=SGD,in_backward=True") },
                .settings = {},
                .capacityBytes = {} });
        return answer ? std::string() : answer.error().text();
    };
    EXPECT_NE(refused({ .deep = false, .clips = false }).find("deep step"), std::string::npos);
    EXPECT_NE(refused({ .showsCalls = false, .clips = false }).find("torch.compile"), std::string::npos);
    EXPECT_NE(refused({ .keeps = true, .clips = false }).find("steps keep gradients"), std::string::npos)
        << refused({ .keeps = true, .clips = false });
    EXPECT_NE(refused({}).find("between backward and a step"), std::string::npos);
    EXPECT_EQ(Change::parse("optimizer=SGD,in_backward=1").error().kind, Error::Kind::Usage);
    for (const char* const other : { "zero_grad=after-step", "fsdp=8", "accumulate=2" })
        EXPECT_FALSE(goTogether(
            { .changes = { *Change::parse(other), *Change::parse("optimizer=SGD,in_backward=True") },
                .settings = {},
                .capacityBytes = {} }))
            << other;
}

} // namespace strata::model
