// SPDX-License-Identifier: GPL-3.0-or-later
// Trainings in a few events as one of many ranks.
#include "model/whatif/kinds/ranks/sharding.h"

#include "model/whatif/answer/predict.h"
#include "model/whatif/kinds/ranks/spread_run.h"
#include "tests/unit/whatif/layered_training.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strata::model {

namespace {

using test::LayeredTraining;

} // namespace

TEST(Sharding, IsRanksAndOptions)
{
    const auto ddp = Sharding::parse(Sharding::Kind::Ddp, "8,gradient_as_bucket_view=True,bucket_cap_mb=5");
    ASSERT_TRUE(ddp);
    EXPECT_EQ(ddp->ranks, 8);
    EXPECT_TRUE(ddp->gradientsAreViews);
    EXPECT_EQ(ddp->bucketBytes, 5 << 20);
    const auto fsdp
        = Sharding::parse(Sharding::Kind::Fsdp, "2,reshard_after_forward=False,modules=Block+Head");
    ASSERT_TRUE(fsdp);
    EXPECT_EQ(fsdp->reshardsAfterForward, false);
    EXPECT_EQ(fsdp->modules, "Block+Head");
    for (const char* const wrong :
        { "", "0", "-1", "x2", "8,", "8,bucket_cap_mb=0", "8,modules=Block", "70000" })
        EXPECT_EQ(Sharding::parse(Sharding::Kind::Zero1, wrong).error().kind, Error::Kind::Usage) << wrong;
    EXPECT_FALSE(Sharding::parse(Sharding::Kind::Fsdp, "8,reshard_after_forward=4"));
}

TEST(Sharding, LeavesTheFirstRankWhatItHasRoomFor)
{
    RecordedOptimizer optimizer;
    for (const std::int64_t elements : { 10, 100, 50, 60 })
        optimizer.parameters.push_back({ elements, 4 * elements, 0 });
    optimizer.steps.push_back({ 0, 0, { 0, 2, 3 } });
    const OptimizerShard shard = zero1Shard(optimizer, { 0 }, 2); // 100 and 10; 60 and 50
    ASSERT_EQ(shard.optimizer.parameters.size(), 2U);
    EXPECT_EQ(shard.optimizer.parameters[0].elements, 100);
    EXPECT_EQ(shard.optimizer.parameters[1].elements, 10);
    EXPECT_EQ(shard.optimizer.steps[0].having, std::vector<std::uint32_t>{ 1 });
    EXPECT_EQ(zero1Shard(optimizer, { 0 }, 1).optimizer.parameters.size(), 4U);
    EXPECT_EQ(zero1Shard(optimizer, { 0 }, 1000).optimizer.parameters.size(), 1U);
    // Of each group for itself: 100 and 10, one each; then 60 and 50, both to the other rank, which has less.
    const OptimizerShard groups = zero1Shard(optimizer, { 0, 2 }, 2);
    EXPECT_EQ(groups.groups, (std::vector<std::uint32_t>{ 0, 1 }));
    ASSERT_EQ(groups.optimizer.parameters.size(), 1U);
    EXPECT_EQ(groups.optimizer.parameters[0].elements, 100);
}

TEST(DataParallel, AddsBucketsThatAreMadeAnew)
{
    const LayeredTraining training({ .deep = false });
    const std::string recorded = LayeredTraining::textOf(programRunOf(*training.run().trace));
    const std::string parameters = "+400 +40 +400 +40 +200 ";
    const std::string step
        = "+64 +100 +101 +20 +200 -20 +400 +40 -101 +400 +40 -100 +8 -8 -400 -40 -400 -40 -200 -64 ";
    ASSERT_EQ(recorded, parameters + step + step + step + step);
    // What is sent, the first bucket, and in the second forward the one that stays.
    EXPECT_EQ(training.with("ddp=8"),
        parameters + "+1080 -1080 +1080 " + step + "-1080 +1080 " + step + step + step);
    EXPECT_NE(training.refusal("ddp=8,gradient_as_bucket_view=True").find("deep step"), std::string::npos);
    const LayeredTraining deep({});
    const std::string views
        = "+64 +100 +101 +20 +200 -20 -200 +400 +40 -101 -400 -40 +400 +40 -100 -400 -40 +8 -8 -64 ";
    EXPECT_EQ(deep.with("ddp=8,gradient_as_bucket_view=True"),
        parameters + "+1080 -1080 +1080 " + views + "-1080 +1080 " + views + views + views);
}

TEST(DataParallel, KeepsTheFirstBucketUntilGradientsThatAreViewsAreInTheNextOnes)
{
    const LayeredTraining training({ .backwards = 2 });
    const std::string parameters = "+400 +40 +400 +40 +200 ";
    const std::string first
        = "+64 +100 +101 +20 +200 -20 -200 +400 +40 -101 -400 -40 +400 +40 -100 -400 -40 ";
    const std::string second
        = "+100 +101 +20 +200 -20 -200 +400 +40 -101 -400 -40 +400 +40 -100 -400 -40 +8 -8 -64 ";
    EXPECT_EQ(training.with("ddp=8,gradient_as_bucket_view=True"),
        parameters + "+1080 -1080 +1080 " + first + "+1080 -1080 " + second + first + second + first + second
            + first + second);
    // Else nothing of the first one is needed any more.
    EXPECT_NE(training.with("ddp=8").find("-100 -1080 +1080 +100"), std::string::npos)
        << training.with("ddp=8");
}

TEST(DataParallel, LetsGoOfGradientsThatArePartsOfBuckets)
{
    const char* const views = "ddp=8,gradient_as_bucket_view=True";
    const std::string begin = "+400 +40 +400 +40 +200 +1080 -1080 +1080 +64 +100 +101 +20 ";
    // Where AccumulateGrad copies them: the copy.
    const LayeredTraining copying({ .copies = true });
    EXPECT_TRUE(copying.with(views).starts_with(
        begin + "+200 -20 +200 -200 -200 +400 +40 -101 +400 -400 -400 +40 -40 -40 "))
        << copying.with(views);
    // Where steps keep them: once for all.
    const LayeredTraining keeping({ .keeps = true });
    EXPECT_TRUE(keeping.with(views).starts_with(begin + "+200 -20 -200 ")) << keeping.with(views);
    const LayeredTraining strange({ .showsCalls = false });
    EXPECT_NE(strange.refusal(views).find("torch.compile"), std::string::npos) << strange.refusal(views);
    EXPECT_TRUE(strange.refusal("ddp=8").empty());
}

TEST(DataParallel, HasBucketsOfEachType)
{
    // Weights and biases; each first bucket goes when the new one of its type is there.
    const LayeredTraining training({ .backwards = 2, .isMixed = true });
    const std::string text = training.with("ddp=8,gradient_as_bucket_view=True");
    EXPECT_NE(text.find("+140 +800 "), std::string::npos) << text;
    EXPECT_NE(text.find("-40 +140 -140 +800 -800 +100 "), std::string::npos) << text;
}

TEST(FullySharded, GathersAndReducesUnitByUnit)
{
    const LayeredTraining training({});
    const std::string shards = "+120 +12 -400 -40 +120 +12 -400 -40 +52 -200 ";
    const std::string forward = "+64 +208@1 +208 " // the model's own, which are there until backward is done
                                "+528@1 -208@1 +480 +48 +100 -480 -48 "
                                "+528@1 -528@1 +480 +48 +101 -480 -48 +20 -528@1 ";
    const std::string backward = "+528@1 +200 -20 " // of the second layer, ahead
                                 "+480 +48 -528@1 +528@1 +400 +40 -101 -480 -48 +528 -400 -40 +132@2 "
                                 "+480 +48 -528@1 +400 +40 -100 ";
    // The first layer takes what needs no gradient: it is done with all.
    const std::string end = "-480 -48 -528 +528 -400 -40 +132@2 -208 -528 +208 -200 +52@2 -208 +8 -8 ";
    const std::string zeroed = "-132@2 -132@2 -52@2 -64 ";
    const std::string step = forward + backward + end + zeroed;
    EXPECT_EQ(training.with("fsdp=4,modules=Layer"),
        "+400 +40 +400 +40 +200 " + shards + step + step + step + step);
}

TEST(FullySharded, KeepsParametersWhereItDoesNotReshard)
{
    const LayeredTraining training({});
    const std::string text = training.with("fsdp=4,modules=Layer,reshard_after_forward=False");
    EXPECT_NE(
        text.find(
            "+480 +48 +100 +528@1 -528@1 +480 +48 +101 +20 -528@1 +200 -20 +400 +40 -101 -480 -48 +528"),
        std::string::npos)
        << text;
}

TEST(FullySharded, BringsItsPartsFromTheHost)
{
    const LayeredTraining training({});
    const std::string text = training.with("fsdp=4,modules=Layer,offload=True");
    const std::string shards
        = "+400 +40 +400 +40 +200 +120 -120 +12 -12 -400 -40 +120 -120 +12 -12 -400 -40 +52 -52 -200 ";
    const std::string forward
        = "+64 +52@1 +208@1 -52@1 +208 +120@1 +12@1 +528@1 -120@1 -12@1 -208@1 +480 +48 +100 ";
    EXPECT_TRUE(text.starts_with(shards + forward)) << text;
    EXPECT_NE(text.find("+528 -400 -40 +132@2 -132@2 "), std::string::npos) << text;
    EXPECT_NE(text.find("+208 -200 +52@2 -52@2 "), std::string::npos) << text;
    EXPECT_NE(training.refusal("fsdp=1,offload=True").find("one rank alone"), std::string::npos);
}

TEST(FullySharded, OfOneRankGathersNothing)
{
    const LayeredTraining training({});
    EXPECT_EQ(training.with("fsdp=1").find('@'), training.with("fsdp=1").find("@2"));
    // The states of an optimizer over all of it are those that were recorded.
    const Prediction alone = training.predicted({ "zero1=1", "optimizer=adamw" });
    const Prediction spread = training.predicted({ "ddp=1", "optimizer=adamw" });
    EXPECT_EQ(alone.predicted, spread.predicted);
}

TEST(FullySharded, RefusesByNameWhatTheRecordingDoesNotTell)
{
    const LayeredTraining shallow({ .deep = false });
    EXPECT_NE(shallow.refusal("fsdp=4").find("no deep step"), std::string::npos) << shallow.refusal("fsdp=4");
    const LayeredTraining training({});
    EXPECT_NE(training.refusal("fsdp=4,modules=Block").find("no module"), std::string::npos);
}

TEST(DataParallel, IsNotPutIntoItself)
{
    const LayeredTraining parallel({ .file = "/lib/torch/nn/parallel/distributed.py" });
    EXPECT_NE(parallel.refusal("ddp=4").find("already"), std::string::npos);
    EXPECT_NE(parallel.refusal("fsdp=4").find("already"), std::string::npos);
    EXPECT_EQ(parallel.with("zero1=4"), LayeredTraining::textOf(programRunOf(*parallel.run().trace)));
}

TEST(FullySharded, IsAnEstimateByTheDeepStep)
{
    const LayeredTraining training({});
    const Prediction prediction = training.predicted({ "fsdp=4,modules=Layer" });
    EXPECT_EQ(prediction.evidence, WhatIfEvidence::Deep);
    ASSERT_TRUE(prediction.predicted);
    EXPECT_LE(prediction.least.requestedBytesPeak, prediction.predicted->requestedBytesPeak);
    EXPECT_FALSE(prediction.exact);
    EXPECT_FALSE(prediction.reason.empty());
    EXPECT_FALSE(prediction.uses.empty());
}

} // namespace strata::model
