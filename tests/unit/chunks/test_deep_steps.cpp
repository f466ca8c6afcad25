// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/deep_step_codec.h"
#include "tests/unit/chunks/made_deep_step.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <utility>

namespace strata::model {

TEST(DeepSteps, AreKeptWholeOrNotAtAll)
{
    Recording from;
    from.parts.get<DeepSteps>().steps = { test::makeDeepStep(from) };
    const auto kept = [&](EventSpan span, bool modules) {
        Recording to;
        chunkKindOf(wire::ChunkType::DeepStep)
            ->keep(from,
                { { { 0, span } }, {}, [&](StringId text) { return to.strings.intern(from.strings[text]); },
                    {}, true, modules },
                to);
        return to;
    };
    const Recording moved = kept({ 2, 20 }, true);
    const auto* const part = moved.parts.find<DeepSteps>();
    ASSERT_TRUE(part);
    EXPECT_EQ(part->steps[0].beginEvent, 1);
    EXPECT_EQ(part->steps[0].endEvent, 7);
    EXPECT_EQ(part->steps[0].rows[3].event, 3);
    EXPECT_EQ(moved.strings[part->steps[0].rows[0].name], "h.3.attn");
    EXPECT_FALSE(kept({ 4, 20 }, true).parts.find<DeepSteps>());
    EXPECT_FALSE(kept({ 2, 6 }, true).parts.find<DeepSteps>());
    const Recording nameless = kept({ 2, 20 }, false);
    const DeepStep& step = nameless.parts.find<DeepSteps>()->steps[0];
    EXPECT_FALSE(step.rows[0].name.valid());
    EXPECT_FALSE(step.rows[0].detail.valid());
    EXPECT_EQ(nameless.strings[step.rows[1].name], "aten::mul");
    for (std::uint32_t i = 0; i < nameless.strings.size(); ++i)
        EXPECT_NE(nameless.strings[StringId{ i }], "h.3.attn");
}

TEST(DeepSteps, ThatDoNotHoldTogetherAreDamage)
{
    const wire::DeepStepChunk whole{ 0, wire::kNone, 3, 9, { { 0x7000, 0 } },
        { { wire::DeepKind::Operator, 77, 4, 0, wire::kNone, wire::kNone, 1 },
            { wire::DeepKind::Returns, 77, 5, wire::kNone, wire::kNone, wire::kNone, 0 } },
        { 0 } };
    const auto taken = [&](const auto& change, std::uint64_t joinedAt = 0) {
        Recording to;
        StreamTables tables;
        tables.strings.push_back(to.strings.intern("aten::mul"));
        if (joinedAt > 0)
            tables.joinedAt[0] = joinedAt;
        wire::DeepStepChunk chunk = whole;
        change(chunk);
        wire::Bytes payload;
        wire::encodeDeepStep(chunk, payload);
        const bool isGood = chunkKindOf(wire::ChunkType::DeepStep)->take(payload, tables, to);
        EXPECT_TRUE(isGood || !to.parts.find<DeepSteps>());
        return std::pair(isGood, to.parts.find<DeepSteps>() != nullptr);
    };
    using Chunk = wire::DeepStepChunk;
    constexpr std::pair kTaken(true, true), kDamaged(false, false), kPassedOver(true, false);
    EXPECT_EQ(taken([](Chunk&) {}), kTaken);
    EXPECT_EQ(taken([](Chunk&) {}, 2), kTaken);
    EXPECT_EQ(taken([](Chunk&) {}, 5), kPassedOver) << "it began before who looks on came";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.rows[1].kind = static_cast<wire::DeepKind>(99); }), kTaken);
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.endEvent = 2; }), kDamaged) << "it ends before it begins";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.rows[1].event = 3; }), kDamaged) << "time goes back";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.rows[1].event = 10; }), kDamaged) << "behind the end";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.rows[0].name = 1; }), kDamaged) << "no such string";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.tensors[0].type = 1; }), kDamaged);
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.unusable = 7; }), kDamaged);
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.refs[0] = 1; }), kDamaged) << "no such tensor";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.rows[1].tensors = 1; }), kDamaged) << "more than there are";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.refs.push_back(0); }), kDamaged) << "nobody's";
    EXPECT_EQ(taken([](Chunk& chunk) { chunk.endEvent = UINT64_MAX; }), kDamaged);
}

} // namespace strata::model
