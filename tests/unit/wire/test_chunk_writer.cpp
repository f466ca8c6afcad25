// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/wire/chunk_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace strata::wire {
namespace {

struct Read {
    ChunkHead head;
    Bytes payload;
    std::uint64_t offset = 0;
};

/// Every chunk of a stream; what is not one ends it.
std::vector<Read> readChunksOf(std::span<const std::byte> stream)
{
    std::vector<Read> chunks;
    std::uint64_t offset = 0;
    for (Read chunk; readHead(stream, chunk.head) == ChunkStatus::Ok;) {
        const auto stored = stream.subspan(kHeadBytes);
        if (unpack(chunk.head, stream.first(kHeadBytes), stored, chunk.payload) != ChunkStatus::Ok)
            break;
        chunk.offset = offset;
        chunks.push_back(chunk);
        offset += kHeadBytes + chunk.head.storedBytes;
        stream = stored.subspan(chunk.head.storedBytes);
    }
    return chunks;
}

auto text(std::string_view content)
{
    return [content](Bytes& out) { ByteWriter(out).text(content); };
}

/// Takes so many chunks and then fails, as a disk that is full.
class SmallSink final : public ChunkSink {
public:
    explicit SmallSink(int room)
        : m_room(room)
    {
    }

    bool write(std::span<const std::byte> chunk) override
    {
        ++m_asked;
        if (m_taken == m_room) {
            fail("No space left");
            return false;
        }
        ++m_taken;
        m_bytes.insert(m_bytes.end(), chunk.begin(), chunk.end());
        return true;
    }
    std::string name() const override { return "small"; }

    int m_room, m_taken = 0, m_asked = 0;
    Bytes m_bytes;
};

} // namespace

TEST(ChunkWriter, NumbersChunksAndTellsWhereTheyAre)
{
    MemorySink sink;
    ChunkWriter writer(sink);
    const std::string large(100'000, 'x');
    writer.chunk(ChunkType::Info, text("one"));
    writer.chunk(ChunkType::Strings, text(large));
    writer.chunk(ChunkType::Digest, text(""));
    EXPECT_EQ(writer.chunks(), 3u);
    const std::uint64_t chain = writer.chain();
    writer.index();
    EXPECT_TRUE(writer.isWriting());

    const std::vector<Read> chunks = readChunksOf(sink.bytes());
    ASSERT_EQ(chunks.size(), 4u);
    std::uint64_t chained = 0;
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_EQ(chunks[i].head.sequence, i);
        chained = i < 3 ? chainHash(chained, chunks[i].head.hash) : chained;
    }
    EXPECT_EQ(chain, chained);
    EXPECT_EQ(chunks[3].head.type, ChunkType::Index);
    ByteReader index(chunks[3].payload);
    ASSERT_EQ(index.count(2), 3u);
    std::uint64_t offset = 0;
    for (std::uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(index.varint(), static_cast<std::uint64_t>(chunks[i].head.type));
        offset += index.varint();
        EXPECT_EQ(offset, chunks[i].offset);
    }
    EXPECT_TRUE(index.ok() && index.atEnd());
}

TEST(ChunkWriter, GoesOnBehindWhatIsThere)
{
    MemorySink first, second;
    ChunkWriter before(first);
    before.chunk(ChunkType::Info, text("a"));
    before.index();
    ChunkWriter behind(second, before.chunks());
    behind.chunk(ChunkType::Note, text("b"));
    Bytes whole = first.bytes();
    whole.insert(whole.end(), second.bytes().begin(), second.bytes().end());
    const std::vector<Read> chunks = readChunksOf(whole);
    ASSERT_EQ(chunks.size(), 3u);
    EXPECT_EQ(chunks[2].head.sequence, 2u);
    EXPECT_EQ(chunks[2].head.type, ChunkType::Note);
}

TEST(ChunkWriter, WritesNothingAfterTheFirstFailureOfItsSink)
{
    SmallSink sink(2);
    ChunkWriter writer(sink);
    int encoded = 0;
    for (int i = 0; i < 5; ++i)
        writer.chunk(ChunkType::Strings, [&](Bytes& out) {
            ++encoded;
            ByteWriter(out).varint(static_cast<std::uint64_t>(i));
        });
    writer.index();
    EXPECT_FALSE(writer.isWriting());
    EXPECT_EQ(writer.problem(), "No space left");
    EXPECT_EQ(sink.m_asked, 3);
    EXPECT_EQ(encoded, 3);
    EXPECT_EQ(readChunksOf(sink.m_bytes).size(), 2u); // what was taken can be read
}

TEST(ChunkWriter, RefusesAPayloadThatNoReaderTakes)
{
    MemorySink sink;
    ChunkWriter writer(sink);
    writer.chunk(ChunkType::Info, text("a"));
    writer.chunk(ChunkType::Strings, [](Bytes& out) { out.resize(kMaxUnpackedBytes + 1); });
    EXPECT_EQ(writer.problem(), "a part of it is too large");
    writer.chunk(ChunkType::Strings, text("b"));
    EXPECT_EQ(readChunksOf(sink.bytes()).size(), 1u);
}

} // namespace strata::wire
