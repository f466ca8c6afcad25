// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/wire/allocator_calls_codec.h"
#include "model/wire/state.h"
#include "model/wire/symbols.h"
#include "model/wire/tables.h"

#include <gtest/gtest.h>

namespace strata::wire {

TEST(WireTables, KeysAndTextsComeBack)
{
    const std::vector<KeyValue> items{ { "key", "value" }, { "", "" }, { "k", std::string("\0x", 2) } };
    Bytes payload;
    encodeKeyValues(items, payload);
    std::vector<KeyValue> back;
    ASSERT_TRUE(decodeKeyValues(payload, back));
    EXPECT_EQ(back, items);
    payload.pop_back();
    EXPECT_FALSE(decodeKeyValues(payload, back));
}

TEST(WireTables, StringsAndFramesComeBack)
{
    const std::vector<std::string_view> strings{ "train.py", "", "\xff\xfe" };
    Bytes payload;
    encodeStrings(7, strings, payload);
    std::uint32_t first = 0;
    std::vector<std::string_view> texts;
    ASSERT_TRUE(decodeStrings(payload, first, texts));
    EXPECT_EQ(first, 7u);
    EXPECT_EQ(texts, strings);

    const std::vector<FrameRow> frames{ { 0, 1, 42, kNone }, { kNone, kNone, -1, 2 },
        { kNone - 1, 0, INT64_MIN, 0 } };
    payload.clear();
    encodeFrames(3, frames, payload);
    std::vector<FrameRow> back;
    ASSERT_TRUE(decodeFrames(payload, first, back));
    EXPECT_EQ(first, 3u);
    EXPECT_EQ(back, frames);
}

TEST(WireTables, StacksShareTheirOutermostFrames)
{
    StackRows stacks;
    const std::vector<std::vector<std::uint32_t>> wanted{ { 5, 4, 3, 2, 1 }, { 9, 3, 2, 1 }, { 9, 3, 2, 1 },
        {}, { 1 }, { 8, 7, 1 } };
    for (const auto& stack : wanted)
        stacks.add(stack);
    Bytes payload;
    encodeStacks(0, stacks, payload);
    EXPECT_LT(payload.size(), 26u); // 17 frames in all, 10 of them new
    std::uint32_t first = 1;
    StackRows back;
    ASSERT_TRUE(decodeStacks(payload, first, back));
    EXPECT_EQ(first, 0u);
    ASSERT_EQ(back.ends.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(std::ranges::equal(back[i], wanted[i])) << i;
}

TEST(WireTables, SharingMoreThanThereIsIsRefused)
{
    Bytes payload;
    ByteWriter writer(payload);
    for (const std::uint64_t value :
        { 0, 2, 0, 1, 5, 2, 0 }) // two stacks: {5}, and one that shares two frames
        writer.varint(value);
    std::uint32_t first = 0;
    StackRows back;
    EXPECT_FALSE(decodeStacks(payload, first, back));
}

TEST(WireTables, PlacesAndAnnotationsComeBack)
{
    Bytes payload;
    const std::vector<std::int64_t> streams{ 0, 140234567890, -1 };
    encodeStreams(0, streams, payload);
    std::uint32_t first = 9;
    std::vector<std::int64_t> streamsBack;
    ASSERT_TRUE(decodeStreams(payload, first, streamsBack));
    EXPECT_EQ(streamsBack, streams);

    payload.clear();
    const std::vector<PoolRow> pools{ { 0, 0, PoolKind::Small }, { 1, 0, PoolKind::Large },
        { 0, -3, PoolKind::Unknown } };
    encodePools(0, pools, payload);
    std::vector<PoolRow> poolsBack;
    ASSERT_TRUE(decodePools(payload, first, poolsBack));
    EXPECT_EQ(poolsBack, pools);

    payload.clear();
    const std::vector<AnnotationRow> rows{ { AnnotationKind::Start, 0, 3, 1'760'000'000'000'000'000 },
        { AnnotationKind::End, 0, 3, 5 }, { AnnotationKind::Mark, -1, kNone, -5 } };
    encodeAnnotations(rows, payload);
    std::vector<AnnotationRow> rowsBack;
    ASSERT_TRUE(decodeAnnotations(payload, rowsBack));
    EXPECT_EQ(rowsBack, rows);

    // A row of a kind that is not known here is passed over, and what follows it is read.
    payload.clear();
    std::vector<AnnotationRow> later = rows;
    later[1].kind = static_cast<AnnotationKind>(kAnnotationKinds);
    encodeAnnotations(later, payload);
    ASSERT_TRUE(decodeAnnotations(payload, rowsBack));
    EXPECT_EQ(rowsBack, (std::vector{ rows[0], rows[2] }));

    payload.clear();
    const std::vector<DriverRow> driver{ { 0, 0, 1'000'000'000, 5 << 20, -1, -1 },
        { 1, 77, 999'999'999, std::int64_t{ 1 } << 40, 3 << 20, 0 } };
    encodeDriver(driver, payload);
    std::vector<DriverRow> driverBack;
    ASSERT_TRUE(decodeDriver(payload, driverBack));
    EXPECT_EQ(driverBack, driver);
    payload.pop_back();
    EXPECT_FALSE(decodeDriver(payload, driverBack));
    payload.clear();
    const std::vector<LostRow> lost{ { 0, 0, 1 }, { 7, 1'000'000, 1ull << 40 } };
    encodeLost(lost, payload);
    std::vector<LostRow> lostBack;
    ASSERT_TRUE(decodeLost(payload, lostBack));
    EXPECT_EQ(lostBack, lost);
    payload.pop_back();
    EXPECT_FALSE(decodeLost(payload, lostBack));
}

TEST(WireEarlier, ComesBackAndWhatCannotBeIsRefused)
{
    const std::vector<EarlierRow> rows{ { 0, 0, 1, 0, 0, 0, 0, 0, 0 },
        { 7, 1'000'000, 1ull << 40, 1'760'000'000'000'000'000, 5, 1, 1ull << 60, 3, 4 } };
    Bytes payload;
    encodeEarlier(rows, payload);
    std::vector<EarlierRow> back;
    ASSERT_TRUE(decodeEarlier(payload, back));
    EXPECT_EQ(back, rows);
    payload.pop_back();
    EXPECT_FALSE(decodeEarlier(payload, back));
    for (const EarlierRow& row : { EarlierRow{ 0, 0, 0 }, EarlierRow{ 0, 1ull << 63, 1 },
             EarlierRow{ 0, 0, 1, -1 }, EarlierRow{ 0, 0, 1, 0, 0, 1ull << 62, (1ull << 62) + 1 } }) {
        payload.clear();
        encodeEarlier(std::vector{ row }, payload);
        EXPECT_FALSE(decodeEarlier(payload, back));
    }
}

TEST(WireAllocatorCalls, ComeBackAndEveryCutIsRefused)
{
    const std::vector<AllocatorCallRow> rows{
        { 0, 0, AllocatorCallKind::MemoryFraction, 4, 1'760'000'000'000'000'000 },
        { 7, 1'000'000'000'000, AllocatorCallKind::EmptyCache, kNone, -5 },
        { 0, 2, AllocatorCallKind::CaptureEnd, 0, 0 },
    };
    Bytes payload;
    encodeAllocatorCalls(rows, payload);
    std::vector<AllocatorCallRow> back;
    ASSERT_TRUE(decodeAllocatorCalls(payload, back));
    EXPECT_EQ(back, rows);
    for (std::size_t size = 0; size < payload.size(); ++size)
        EXPECT_FALSE(decodeAllocatorCalls(std::span(payload).first(size), back)) << size;

    // A row of a kind that is not known here is passed over, and what follows it is read.
    payload.clear();
    std::vector<AllocatorCallRow> later = rows;
    later[1].kind = static_cast<AllocatorCallKind>(kAllocatorCallKinds);
    encodeAllocatorCalls(later, payload);
    ASSERT_TRUE(decodeAllocatorCalls(payload, back));
    EXPECT_EQ(back, (std::vector{ rows[0], rows[2] }));
}

TEST(WireSymbols, ComeBackAndEveryCutIsRefused)
{
    const std::vector<SymbolRow> rows{
        { R"({"build_id": "ab", "offset": "0x10"})", "/u/train.cpp", "f(int)", 57 }, { "", "", "", 0 }
    };
    Bytes payload;
    encodeSymbols(rows, payload);
    std::vector<SymbolRow> back;
    ASSERT_TRUE(decodeSymbols(payload, back));
    EXPECT_EQ(back, rows);
    for (std::size_t size = 0; size < payload.size(); ++size)
        EXPECT_FALSE(decodeSymbols(std::span(payload).first(size), back)) << size;
}

TEST(WireState, ComesBackAndEveryCutIsRefused)
{
    State state;
    state.device = 2;
    state.events = 77;
    state.segments = { { 0x1000, 4096, 1024, 2048, 900, 2, 3, 0, 1, false },
        { 0x9000, 512, -1, -1, -1, 0, kNone, kNone, kNone, true }, { 0x100, 5, 0, 0, 0, 1, 0, 0, 0, false } };
    state.blocks = { { 0x1000, 1024, 900, BlockState::Allocated, 4 },
        { 0x1400, 3072, 0, BlockState::Inactive, kNone }, { 0x90, 5, 5, BlockState::PendingFree, 0 } };
    Bytes payload;
    encodeState(state, payload);
    State back;
    ASSERT_TRUE(decodeState(payload, back));
    EXPECT_TRUE(back == state);
    for (std::size_t size = 0; size < payload.size(); ++size)
        EXPECT_FALSE(decodeState(std::span(payload).first(size), back)) << size;
}

} // namespace strata::wire
