// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/wire/link/link_chunks.h"

#include <gtest/gtest.h>

namespace strata::wire {

namespace {

/// Comes back as it was; no part of it is taken for the whole, and what a later version adds is passed over.
template <class Item>
void holdRoundTrip(
    const Item& item, void (*encode)(const Item&, Bytes&), bool (*decode)(std::span<const std::byte>, Item&))
{
    Bytes payload;
    encode(item, payload);
    Item back;
    ASSERT_TRUE(decode(payload, back));
    EXPECT_TRUE(back == item);
    for (std::size_t size = 0; size < payload.size(); ++size)
        EXPECT_FALSE(decode(std::span(payload).first(size), back)) << size;
    payload.push_back(std::byte{ 7 });
    EXPECT_TRUE(decode(payload, back));
    EXPECT_TRUE(back == item);
}

} // namespace

TEST(LinkChunks, ComeBackAsTheyWere)
{
    holdRoundTrip<Join>({ kLinkVersion, "secret", false, 0x123456789abcdef0u, 300 }, encodeJoin, decodeJoin);
    holdRoundTrip<Greeting>(
        { kLinkVersion, 42, 7, { { "name", "train.py" }, { "rank", "3" } } }, encodeGreeting, decodeGreeting);
    holdRoundTrip<Totals>(
        { 1'700'000'000'000'000'000, 200'000, { { 0, 1000, -1, 2 << 20, 12345 }, { 3, 0, 5, 6, -1 } } },
        encodeTotals, decodeTotals);
    holdRoundTrip<Gap>({ 77, 12, { { 0, 5000 }, { 1, 0 } } }, encodeGap, decodeGap);
    holdRoundTrip<Refusal>({ Refusal::Reason::Full, "64 look on" }, encodeRefusal, decodeRefusal);
}

TEST(LinkChunks, AnotherVersionTellsItsNumberAlone)
{
    Bytes payload;
    ByteWriter(payload).varint(9);
    Join join;
    EXPECT_TRUE(decodeJoin(payload, join));
    EXPECT_EQ(join.version, 9u);
    Greeting greeting;
    EXPECT_TRUE(decodeGreeting(payload, greeting));
    EXPECT_EQ(greeting.version, 9u);
}

TEST(LinkChunks, CountsThatDoNotFitAreDamage)
{
    Bytes payload;
    ByteWriter writer(payload);
    writer.varint(1);
    writer.varint(1);
    writer.varint(std::uint64_t{ 1 } << 40); // devices
    Gap gap;
    EXPECT_FALSE(decodeGap(payload, gap));
    Totals totals;
    EXPECT_FALSE(decodeTotals(payload, totals));
}

TEST(LinkChunks, AChunkTakesAnotherNumber)
{
    Bytes bytes, payload;
    const Bytes content(1000, std::byte{ 3 });
    ASSERT_TRUE(ChunkPacker().pack(ChunkType::Info, content, bytes));
    renumberChunk(bytes, 12345);
    ChunkHead head;
    ASSERT_EQ(readHead(bytes, head), ChunkStatus::Ok);
    EXPECT_EQ(head.sequence, 12345u);
    const std::span<const std::byte> whole(bytes);
    EXPECT_EQ(unpack(head, whole, whole.subspan(kHeadBytes), payload), ChunkStatus::Ok);
    EXPECT_TRUE(payload == content);
}

} // namespace strata::wire
