// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace strata::wire {

/// The stream that a session file holds and a live link carries: chunks, one behind the other. FORMAT.md
/// describes it for strangers; what stands there and here must agree.
inline constexpr std::uint32_t kMagic = 0x43525453; ///< "STRC"
inline constexpr std::uint8_t kMajor = 1; ///< another one cannot be read; unknown chunk types can be skipped
inline constexpr std::size_t kHeadBytes = 32;
inline constexpr std::size_t kMaxUnpackedBytes = std::size_t{ 64 } << 20;

/// Types keep their numbers for ever; new ones get new numbers.
enum class ChunkType : std::uint16_t {
    Info = 1,
    Strings = 2,
    Frames = 3,
    Stacks = 4,
    Streams = 5,
    Pools = 6,
    Events = 7,
    EndState = 8,
    BaseState = 9,
    Annotations = 10,
    Settings = 11,
    Lost = 12, ///< events that the recorder could not keep
    Digest = 13, ///< what a summary says of a device; believed only with the chunks that it was made of
    DriverMemory = 14, ///< what the driver said was in use, whoever took it
    AllocatorCalls = 15, ///< what was asked of the allocator besides memory
    Symbols = 16, ///< what debug information says of frames, found out when all was recorded
    Roles = 17, ///< which tensors are parameters, gradients, states of optimizers
    Earlier = 18, ///< what is left of events that were not kept: their curves
    DeviceWork = 19, ///< kernels, copies and sets
    WorkCalls = 20, ///< calls of the runtime and the driver
    WorkWaits = 21, ///< streams, events and devices that were waited for
    WorkLosses = 22, ///< work that the recorder did not see
    DriverAllocations = 23, ///< memory that the driver handed out, whoever asked
    Operators = 24, ///< operators of PyTorch that ran
    DeepStep = 25, ///< a step in which every operator was seen
    CallList = 26, ///< what the program itself called in it
    Note = 32, ///< user data: behind everything recorded, never rewriting it
    Range = 33,
    Filter = 34,
    Rules = 35, ///< categories of the user's own
    View = 36, ///< how the window arranges what it shows
    Index = 64, ///< where the chunks are; last in a finished file
};

inline constexpr std::array kChunkTypes{ ChunkType::Info, ChunkType::Strings, ChunkType::Frames,
    ChunkType::Stacks, ChunkType::Streams, ChunkType::Pools, ChunkType::Events, ChunkType::EndState,
    ChunkType::BaseState, ChunkType::Annotations, ChunkType::Settings, ChunkType::Lost, ChunkType::Digest,
    ChunkType::DriverMemory, ChunkType::AllocatorCalls, ChunkType::Symbols, ChunkType::Roles,
    ChunkType::Earlier, ChunkType::DeviceWork, ChunkType::WorkCalls, ChunkType::WorkWaits,
    ChunkType::WorkLosses, ChunkType::DriverAllocations, ChunkType::Operators, ChunkType::DeepStep,
    ChunkType::CallList, ChunkType::Note, ChunkType::Range, ChunkType::Filter, ChunkType::Rules,
    ChunkType::View, ChunkType::Index };

enum class Codec : std::uint8_t { Stored = 0, Zstd = 1 };

/// Packs payloads into chunks. Keeps its zstd context; one thread at a time.
class ChunkPacker {
public:
    explicit ChunkPacker(int zstdLevel = 3);
    ~ChunkPacker();
    ChunkPacker(const ChunkPacker&) = delete;
    ChunkPacker& operator=(const ChunkPacker&) = delete;

    /// Appends one chunk to `out`. At most kMaxUnpackedBytes of payload; false if it is more or memory ran
    /// out: nothing is appended then. The sequence number counts on by itself.
    [[nodiscard]] bool pack(ChunkType type, std::span<const std::byte> payload, Bytes& out);

    /// Of the next chunk: how many there are.
    [[nodiscard]] std::uint32_t sequence() const { return m_sequence; }
    /// chainHash() over all chunks.
    [[nodiscard]] std::uint64_t chain() const { return m_chain; }
    /// For a stream that another packer began.
    void continueAt(std::uint32_t sequence) { m_sequence = sequence; }

private:
    void* m_context; // ZSTD_CCtx
    int m_level;
    std::uint32_t m_sequence = 0;
    std::uint64_t m_chain = 0;
};

/// A hash over the hashes of chunks, in their order; 0 for none.
[[nodiscard]] std::uint64_t chainHash(std::uint64_t before, std::uint64_t chunkHash);

struct ChunkHead {
    std::uint8_t major = 0;
    Codec codec = Codec::Stored;
    ChunkType type{};
    std::uint32_t storedBytes = 0;
    std::uint32_t unpackedBytes = 0;
    std::uint32_t sequence = 0;
    std::uint64_t hash = 0;
};

enum class ChunkStatus : std::uint8_t {
    Ok,
    Incomplete, ///< the stream ends inside it: the rest may come, or the writer was killed
    Damaged, ///< not a chunk, or its bytes are not those that were written
    Newer, ///< of a major version that this build does not know
};

/// The head of the chunk that begins at in[0]. Ok even if the payload is not all there.
[[nodiscard]] ChunkStatus readHead(std::span<const std::byte> in, ChunkHead& head);

/// Ok if `stored` is what the head says, without unpacking it.
[[nodiscard]] ChunkStatus checkStored(
    const ChunkHead& head, std::span<const std::byte> headBytes, std::span<const std::byte> stored);

/// Checks and unpacks the payload of `head` into `out`, which is overwritten. `stored` are the storedBytes
/// behind the head.
[[nodiscard]] ChunkStatus unpack(const ChunkHead& head, std::span<const std::byte> headBytes,
    std::span<const std::byte> stored, Bytes& out);

} // namespace strata::wire
