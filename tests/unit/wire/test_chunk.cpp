// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/wire/chunk.h"

#include <gtest/gtest.h>

#include <random>
#include <string_view>

namespace strata::wire {
namespace {

Bytes bytesOf(std::string_view text)
{
    const auto bytes = std::as_bytes(std::span(text));
    return { bytes.begin(), bytes.end() };
}

/// Status of the first chunk of `stream`, its payload in `payload`.
ChunkStatus read(const Bytes& stream, ChunkHead& head, Bytes& payload)
{
    const ChunkStatus status = readHead(stream, head);
    if (status != ChunkStatus::Ok)
        return status;
    const std::span<const std::byte> all(stream);
    return unpack(head, all.first(kHeadBytes), all.subspan(kHeadBytes), payload);
}

} // namespace

TEST(Bytes, IntegersOfEverySizeComeBack)
{
    for (const std::uint64_t value : { std::uint64_t{ 0 }, std::uint64_t{ 127 }, std::uint64_t{ 128 },
             std::uint64_t{ 1 } << 35, ~std::uint64_t{ 0 } }) {
        Bytes out;
        ByteWriter(out).varint(value);
        ByteReader in(out);
        EXPECT_EQ(in.varint(), value);
        EXPECT_TRUE(in.ok() && in.atEnd());
    }
    for (const std::int64_t value :
        { std::int64_t{ 0 }, std::int64_t{ -1 }, std::int64_t{ 1 } << 40, INT64_MIN, INT64_MAX })
        EXPECT_EQ(unzigzag(zigzag(value)), value);
}

TEST(Bytes, ReadingTooFarFailsForGoodAndGivesNothing)
{
    const Bytes in = bytesOf("\x05"
                             "abc");
    ByteReader reader(in);
    EXPECT_EQ(reader.text(), "");
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.varint(), 0u);
    EXPECT_TRUE(reader.atEnd());

    const Bytes endless(11, std::byte{ 0xff });
    ByteReader varint(endless);
    (void)varint.varint();
    EXPECT_FALSE(varint.ok());

    Bytes many;
    ByteWriter(many).varint(1'000'000);
    ByteReader count(many);
    EXPECT_EQ(count.count(), 0u);
    EXPECT_FALSE(count.ok());
}

TEST(Chunk, ComesBackStoredOrPacked)
{
    ChunkPacker packer;
    for (const std::size_t size : { std::size_t{ 0 }, std::size_t{ 3 }, std::size_t{ 100'000 } }) {
        Bytes payload(size, std::byte{ 7 }), stream, out;
        ASSERT_TRUE(packer.pack(ChunkType::Strings, payload, stream));
        ChunkHead head;
        ASSERT_EQ(read(stream, head, out), ChunkStatus::Ok);
        EXPECT_EQ(out, payload);
        EXPECT_EQ(head.type, ChunkType::Strings);
        EXPECT_EQ(head.codec, size > 1000 ? Codec::Zstd : Codec::Stored);
        EXPECT_LT(stream.size(), 200u);
    }
}

TEST(Chunk, SequenceNumbersCountOn)
{
    ChunkPacker packer;
    for (std::uint32_t i = 0; i < 3; ++i) {
        Bytes stream;
        ASSERT_TRUE(packer.pack(ChunkType::Info, bytesOf("x"), stream));
        ChunkHead head;
        ASSERT_EQ(readHead(stream, head), ChunkStatus::Ok);
        EXPECT_EQ(head.sequence, i);
    }
}

TEST(Chunk, EveryCutIsIncomplete)
{
    ChunkPacker packer;
    Bytes stream;
    ASSERT_TRUE(packer.pack(ChunkType::Info, bytesOf("some payload"), stream));
    for (std::size_t size = 0; size < stream.size(); ++size) {
        ChunkHead head;
        Bytes out;
        EXPECT_EQ(read({ stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size) }, head, out),
            ChunkStatus::Incomplete)
            << size;
    }
}

TEST(Chunk, EveryFlippedBitIsFound)
{
    ChunkPacker packer;
    Bytes payload(300, std::byte{ 'a' }), stream;
    ASSERT_TRUE(packer.pack(ChunkType::Info, payload, stream));
    for (std::size_t bit = 0; bit < stream.size() * 8; ++bit) {
        Bytes damaged = stream;
        damaged[bit / 8] ^= std::byte{ static_cast<unsigned char>(1u << (bit % 8)) };
        ChunkHead head;
        Bytes out;
        EXPECT_NE(read(damaged, head, out), ChunkStatus::Ok) << bit;
    }
}

TEST(Chunk, RefusesWhatNobodyCouldRead)
{
    ChunkPacker packer;
    Bytes stream;
    EXPECT_FALSE(packer.pack(ChunkType::Info, Bytes(kMaxUnpackedBytes + 1), stream));
    EXPECT_TRUE(stream.empty());
}

} // namespace strata::wire
