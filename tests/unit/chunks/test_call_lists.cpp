// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/chunks/chunk_kinds.h"
#include "model/wire/call_list_codec.h"
#include "tests/unit/chunks/made_call_list.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <utility>

namespace strata::model {

TEST(CallLists, AreKeptWholeOrNotAtAll)
{
    Recording from;
    from.parts.get<CallLists>().lists = { test::makeCallList(from) };
    const auto kept = [&](EventSpan span, bool modules, bool calls) {
        Recording to;
        KeptRows rows{ { { 0, span } }, {},
            [&](StringId text) { return to.strings.intern(from.strings[text]); }, {} };
        rows.modules = modules;
        rows.calls = calls;
        chunkKindOf(wire::ChunkType::CallList)->keep(from, rows, to);
        return to;
    };
    const Recording moved = kept({ 2, 20 }, true, true);
    const auto* const part = moved.parts.find<CallLists>();
    ASSERT_TRUE(part);
    const CallList& list = part->lists[0];
    EXPECT_EQ(list.beginEvent, 1);
    EXPECT_EQ(list.endEvent, 7);
    EXPECT_EQ(list.rows[2].event, 2);
    EXPECT_EQ(moved.strings[list.rows[1].name], "h.3.attn");
    EXPECT_EQ(list.taken(list.rows[2]).size(), 1U);
    EXPECT_EQ(CallList::tensorOf(list.returned(list.rows[2])[0]), 1U);
    EXPECT_EQ(list.strides(list.tensors[2])[0], 3);
    EXPECT_FALSE(kept({ 4, 20 }, true, true).parts.find<CallLists>());
    EXPECT_FALSE(kept({ 2, 6 }, true, true).parts.find<CallLists>());
    const Recording dropped = kept({ 2, 20 }, true, false);
    EXPECT_FALSE(dropped.parts.find<CallLists>());
    for (std::uint32_t i = 0; i < dropped.strings.size(); ++i)
        EXPECT_NE(dropped.strings[StringId{ i }], "aten::sum.dim_IntList");
    const Recording nameless = kept({ 2, 20 }, false, true);
    const CallList& without = nameless.parts.find<CallLists>()->lists[0];
    EXPECT_FALSE(without.rows[1].name.valid());
    EXPECT_FALSE(without.rows[3].detail.valid());
    EXPECT_EQ(nameless.strings[without.rows[2].name], "aten::sum.dim_IntList");
}

TEST(CallLists, ThatDoNotHoldTogetherAreDamage)
{
    using wire::CallKind;
    const wire::CallListChunk whole{ 0, wire::kNone, 3, 9, { { 0x7000, 0, 0, wire::kNone, 1 } }, { 2, 1 },
        { { CallKind::Call, 4, true, 0, 0, 1, 1 },
            { CallKind::Gone, 5, false, wire::kNone, wire::kNone, 1, 0 } },
        { 0, 1, 0 } };
    const auto taken = [&](const auto& change, std::uint64_t joinedAt = 0) {
        Recording to;
        StreamTables tables;
        tables.strings.push_back(to.strings.intern("aten::mul.Tensor"));
        if (joinedAt > 0)
            tables.joinedAt[0] = joinedAt;
        wire::CallListChunk chunk = whole;
        change(chunk);
        wire::Bytes payload;
        wire::encodeCallList(chunk, payload);
        const bool isGood = chunkKindOf(wire::ChunkType::CallList)->take(payload, tables, to);
        EXPECT_TRUE(isGood || !to.parts.find<CallLists>());
        return std::pair(isGood, to.parts.find<CallLists>() != nullptr);
    };
    constexpr std::pair kTaken(true, true), kDamaged(false, false);
    EXPECT_EQ(taken([](auto&) {}), kTaken);
    EXPECT_EQ(taken([](auto& chunk) { chunk.rows[1].kind = static_cast<CallKind>(99); }), kTaken);
    EXPECT_EQ(taken([](auto&) {}, 4), std::pair(true, false)); // it began before who looks on came
    EXPECT_EQ(taken([](auto& chunk) { chunk.rows[1].event = 2; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.rows[1].event = 10; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.endEvent = 2; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.rows[0].name = 1; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.tensors[0].type = 7; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.tensors[0].gradientOf = 1; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.tensors[0].dimensions = 2; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.lengths.pop_back(); }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.refs[0] = 2; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.refs.push_back(0); }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.rows[0].returns = 2; }), kDamaged);
    EXPECT_EQ(taken([](auto& chunk) { chunk.device = 1; }), kTaken);
}

} // namespace strata::model
