// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/ask/change_kind.h"
#include "model/whatif/kinds/last_uses.h"
#include "model/whatif/kinds/sizes.h"

#include <gtest/gtest.h>

namespace strata::model {

TEST(Change, IsItemsOrTimesAsMany)
{
    const auto items = Change::parse("batch=16");
    ASSERT_TRUE(items);
    EXPECT_FALSE(items->as<SizeAsked>().isRelative);
    EXPECT_EQ(items->as<SizeAsked>().numerator, 16);
    const auto factor = Change::parse("batch=x2.50");
    ASSERT_TRUE(factor);
    EXPECT_TRUE(factor->as<SizeAsked>().isRelative);
    EXPECT_EQ(factor->as<SizeAsked>().numerator, 5);
    EXPECT_EQ(factor->as<SizeAsked>().denominator, 2);
    EXPECT_EQ(Change::parse("batch=x0.5")->as<SizeAsked>().denominator, 2);
    const auto tokens = Change::parse("sequence=2048");
    ASSERT_TRUE(tokens);
    EXPECT_EQ(tokens->kind->word, "sequence");
    EXPECT_EQ(tokens->as<SizeAsked>().numerator, 2048);
    EXPECT_TRUE(Change::parse("sequence=x2")->as<SizeAsked>().isRelative);
    for (const char* const wrong : { "sequence", "sequence=", "sequence=0", "sequence=x", "sequence=long" })
        EXPECT_EQ(Change::parse(wrong).error().kind, Error::Kind::Usage) << wrong;
}

TEST(Change, IsModulesThatAreCheckpointed)
{
    EXPECT_NE(
        Change::parse("checkpoint=").error().text().find("checkpoint=path:blocks.*,"), std::string::npos);
    for (const char* const text : { "checkpoint=Block", "checkpoint=path:blocks.*", "checkpoint=none" }) {
        const auto change = Change::parse(text);
        ASSERT_TRUE(change) << text;
        EXPECT_EQ(change->kind->word, "checkpoint");
        EXPECT_EQ("checkpoint=" + change->value, text);
        EXPECT_EQ(change->does(Does::TakesCheckpointsAway), change->value == "none");
    }
    for (const char* const wrong : { "checkpoint", "checkpoint=", "checkpoint=path:" })
        EXPECT_EQ(Change::parse(wrong).error().kind, Error::Kind::Usage) << wrong;
}

TEST(Change, IsWhatTheHostKeeps)
{
    for (const char* const text : { "offload=activations", "offload=activations:Block",
             "offload=activations:path:blocks.*", "offload=optimizer" }) {
        const auto change = Change::parse(text);
        ASSERT_TRUE(change) << text;
        EXPECT_EQ(change->kind->word, "offload");
        EXPECT_EQ("offload=" + change->value, text);
    }
    for (const char* const wrong :
        { "offload", "offload=", "offload=yes", "offload=activations:", "offload=activationsBlock",
            "offload=activations:path:", "offload=optimizers", "offload=optimizer:Block" })
        EXPECT_EQ(Change::parse(wrong).error().kind, Error::Kind::Usage) << wrong;
}

TEST(Change, IsATypeOfAutocastOrOfAll)
{
    EXPECT_EQ(Change::parse("amp=bf16")->kind->word, "amp");
    EXPECT_EQ(Change::parse("amp=int8").error().kind, Error::Kind::Usage);
    EXPECT_EQ(Change::parse("dtype=fp16")->kind->word, "dtype");
    EXPECT_EQ(Change::parse("dtype=float32").error().kind, Error::Kind::Usage);
}

TEST(Change, IsALossInChunks)
{
    const auto change = Change::parse("logits=chunks:8");
    ASSERT_TRUE(change);
    EXPECT_EQ(change->kind->word, "logits");
    EXPECT_EQ(change->value, "chunks:8");
    EXPECT_TRUE(change->kind->isToldByRunningAlone());
    EXPECT_TRUE(change->kind->isToldByCallsAlone());
    for (const char* const wrong : { "logits", "logits=", "logits=8", "logits=chunks", "logits=chunks:",
             "logits=chunks:0", "logits=chunks:-1", "logits=chunks:8x", "logits=chunks:4097" })
        EXPECT_EQ(Change::parse(wrong).error().kind, Error::Kind::Usage) << wrong;
}

TEST(Change, IsAKernelOfAttention)
{
    for (const char* const text : { "attention=math", "attention=efficient", "attention=flash",
             "attention=cudnn", "attention=flash,causal" }) {
        const auto change = Change::parse(text);
        ASSERT_TRUE(change) << text;
        EXPECT_EQ(change->kind->word, "attention");
        EXPECT_EQ("attention=" + change->value, text);
        EXPECT_TRUE(change->kind->isToldByRunningAlone());
        EXPECT_FALSE(change->does(Does::Spreads));
    }
    for (const char* const wrong : { "attention", "attention=", "attention=causal", "attention=,causal",
             "attention=Flash", "attention=flash,", "attention=flash,causal,causal", "attention=xformers" })
        EXPECT_EQ(Change::parse(wrong).error().kind, Error::Kind::Usage) << wrong;
}

TEST(Change, IsALineOfTheProgram)
{
    const auto removed = Change::parse("remove=train.py:57");
    ASSERT_TRUE(removed);
    EXPECT_EQ(removed->kind->word, "remove");
    EXPECT_EQ(removed->value, "train.py:57");
    EXPECT_TRUE(removed->kind->isWrittenByHand());
    EXPECT_EQ(Change::parse("remove=stream:7 > 1MiB")->value, "stream:7 > 1MiB");
    EXPECT_TRUE(Change::parse("free=last-use")->as<FreedPlace>().site.empty());
    EXPECT_EQ(Change::parse("free=train.py:57")->as<FreedPlace>().site, "train.py:57");
    EXPECT_FALSE(Change::parse("remove=last-use")->does(Does::Frees));
    for (const char* const wrong : { "remove", "remove=", "remove= ", "free=", "free", "remove=\"x" })
        EXPECT_EQ(Change::parse(wrong).error().kind, Error::Kind::Usage) << wrong;
}

TEST(Change, RefusesByNameWhatIsNotKnown)
{
    for (const char* wrong :
        { "tp=Block", "checkpoints=Block", "", "=2", "batches=2", "optimizer", "optimiser=SGD" }) {
        const auto change = Change::parse(wrong);
        ASSERT_FALSE(change) << wrong;
        EXPECT_EQ(change.error().kind, Error::Kind::Usage);
        EXPECT_NE(
            change.error().what.text().find("is not known: what it can do is batch="), std::string::npos);
    }
    for (const char* wrong : { "batch", "batch=", "batch=0", "batch=-2", "batch=x", "batch=x0", "batch=x2.",
             "batch=x.5", "batch=2x", "batch=99999999999999999999", "batch=x1.0000001", "batch=x-1" })
        EXPECT_FALSE(Change::parse(wrong)) << wrong;
}

} // namespace strata::model
