// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/bytes.h"
#include "model/wire/link/link_chunks.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace strata::agent {

/// How far a viewer has been given the chunks of a recording.
struct Cursor {
    std::uint32_t next = 0; ///< sequence number of the chunk that comes next
    std::uint64_t offset = 0; ///< bytes of `held` that were given; in a file, of the file
    std::uint64_t left = 0; ///< bytes of a chunk that was given in part
    std::shared_ptr<const wire::Bytes> held; ///< what is given in part, however long that takes

    [[nodiscard]] bool isAmidChunk() const { return left > 0 || held; }
};

/// The chunks of a recording, kept for those who look on: in the file that is recorded, or in memory as long
/// as there is room. The recorder's thread adds, the server's thread does all else; neither waits for the
/// other longer than a copy of a pointer takes.
class ChunkStore {
public:
    enum class Fetched : std::uint8_t {
        Some,
        NothingYet, ///< the cursor is behind the last chunk so far
        Dropped, ///< what comes next is not kept any more: startLate()
        Failed, ///< the file cannot be read
    };

    ChunkStore() = default;
    virtual ~ChunkStore() = default;
    ChunkStore(const ChunkStore&) = delete;
    ChunkStore& operator=(const ChunkStore&) = delete;

    /// The recorder's thread: the next chunk, which is written. True: keep() has work.
    virtual bool add(std::span<const std::byte> chunk) = 0;

    /// The cursor in front of that chunk, which may be the one to come. False: it is not kept, or never was.
    [[nodiscard]] virtual bool seek(Cursor& cursor, std::uint32_t sequence) = 0;
    /// Appends what comes next, about `most` bytes, to `out`.
    [[nodiscard]] virtual Fetched fetch(Cursor& cursor, std::size_t most, wire::Bytes& out) = 0;
    /// The cursor in front of chunks that stand for all that is not kept any more.
    virtual wire::Gap startLate(Cursor& cursor) = 0;
    /// Drops what there is no room for.
    virtual void keep() = 0;
};

} // namespace strata::agent
