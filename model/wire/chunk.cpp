// SPDX-License-Identifier: Apache-2.0
#include "model/wire/chunk.h"

#include <xxhash.h>
#include <zstd.h>

namespace strata::wire {
namespace {

constexpr std::size_t kHashAt = 24;
constexpr std::size_t kWorthPacking = 64; // below, the frame costs more than it saves

/// Over the head as well: its seed is the hash of the head's first bytes.
std::uint64_t hashOf(std::span<const std::byte> head, std::span<const std::byte> stored)
{
    return XXH3_64bits_withSeed(stored.data(), stored.size(), XXH3_64bits(head.data(), kHashAt));
}

} // namespace

ChunkPacker::ChunkPacker(int zstdLevel)
    : m_context(ZSTD_createCCtx())
    , m_level(zstdLevel)
{
}

ChunkPacker::~ChunkPacker()
{
    ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(m_context));
}

bool ChunkPacker::pack(ChunkType type, std::span<const std::byte> payload, Bytes& out)
{
    if (payload.size() > kMaxUnpackedBytes || m_context == nullptr)
        return false;
    const std::size_t start = out.size();
    out.resize(start + kHeadBytes + ZSTD_compressBound(payload.size()));
    std::byte* const stored = out.data() + start + kHeadBytes;
    Codec codec = Codec::Stored;
    std::size_t storedBytes = payload.size();
    if (payload.size() >= kWorthPacking) {
        const std::size_t packed = ZSTD_compressCCtx(static_cast<ZSTD_CCtx*>(m_context), stored,
            out.size() - start - kHeadBytes, payload.data(), payload.size(), m_level);
        if (!ZSTD_isError(packed) && packed < payload.size()) {
            codec = Codec::Zstd;
            storedBytes = packed;
        }
    }
    if (codec == Codec::Stored && !payload.empty())
        std::memcpy(stored, payload.data(), payload.size());
    out.resize(start + kHeadBytes + storedBytes);

    Bytes head;
    head.reserve(kHeadBytes);
    ByteWriter writer(head);
    writer.fixed(kMagic);
    writer.byte(kMajor);
    writer.byte(static_cast<std::uint8_t>(codec));
    writer.fixed(static_cast<std::uint16_t>(type));
    writer.fixed(static_cast<std::uint32_t>(storedBytes));
    writer.fixed(static_cast<std::uint32_t>(payload.size()));
    writer.fixed(m_sequence++);
    writer.fixed(std::uint32_t{ 0 });
    const std::uint64_t hash = hashOf(head, std::span(out).subspan(start + kHeadBytes));
    writer.fixed(hash);
    m_chain = chainHash(m_chain, hash);
    std::memcpy(out.data() + start, head.data(), kHeadBytes);
    return true;
}

std::uint64_t chainHash(std::uint64_t before, std::uint64_t chunkHash)
{
    std::byte bytes[sizeof(chunkHash)];
    for (std::size_t i = 0; i < sizeof(bytes); ++i)
        bytes[i] = static_cast<std::byte>(chunkHash >> (8 * i));
    return XXH3_64bits_withSeed(bytes, sizeof(bytes), before);
}

ChunkStatus readHead(std::span<const std::byte> in, ChunkHead& head)
{
    ByteReader reader(in);
    const auto magic = reader.fixed<std::uint32_t>();
    if (in.size() >= sizeof(kMagic) && magic != kMagic)
        return ChunkStatus::Damaged;
    if (in.size() < kHeadBytes)
        return ChunkStatus::Incomplete;
    head.major = reader.byte();
    const std::uint8_t codec = reader.byte();
    head.codec = static_cast<Codec>(codec);
    head.type = static_cast<ChunkType>(reader.fixed<std::uint16_t>());
    head.storedBytes = reader.fixed<std::uint32_t>();
    head.unpackedBytes = reader.fixed<std::uint32_t>();
    head.sequence = reader.fixed<std::uint32_t>();
    (void)reader.fixed<std::uint32_t>();
    head.hash = reader.fixed<std::uint64_t>();
    if (head.major != kMajor)
        return ChunkStatus::Newer;
    const bool plausible = codec <= static_cast<std::uint8_t>(Codec::Zstd)
        && head.unpackedBytes <= kMaxUnpackedBytes
        && head.storedBytes <= ZSTD_compressBound(head.unpackedBytes)
        && (head.codec != Codec::Stored || head.storedBytes == head.unpackedBytes);
    return plausible ? ChunkStatus::Ok : ChunkStatus::Damaged;
}

ChunkStatus checkStored(
    const ChunkHead& head, std::span<const std::byte> headBytes, std::span<const std::byte> stored)
{
    if (headBytes.size() < kHeadBytes || stored.size() < head.storedBytes)
        return ChunkStatus::Incomplete;
    return hashOf(headBytes, stored.first(head.storedBytes)) == head.hash ? ChunkStatus::Ok
                                                                          : ChunkStatus::Damaged;
}

ChunkStatus unpack(const ChunkHead& head, std::span<const std::byte> headBytes,
    std::span<const std::byte> stored, Bytes& out)
{
    if (const ChunkStatus status = checkStored(head, headBytes, stored); status != ChunkStatus::Ok)
        return status;
    stored = stored.first(head.storedBytes);
    if (head.codec == Codec::Stored) {
        out.assign(stored.begin(), stored.end());
        return ChunkStatus::Ok;
    }
    // A frame that claims more than the head does ends in an error, not in memory.
    out.resize(head.unpackedBytes);
    const std::size_t unpacked = ZSTD_decompress(out.data(), out.size(), stored.data(), stored.size());
    return !ZSTD_isError(unpacked) && unpacked == head.unpackedBytes ? ChunkStatus::Ok : ChunkStatus::Damaged;
}

} // namespace strata::wire
