// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/chunk.h"
#include "model/wire/chunk_sink.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::wire {

/// The one writer of streams: packs payloads into chunks, hands each of them whole to a sink, and keeps what
/// the stream says of itself: sequence numbers, the chain over the chunks, where they are. What goes wrong
/// first is final: nothing is written after it, and problem() says why. One thread; a chunk costs its
/// compression and what the sink takes for it.
class ChunkWriter {
public:
    /// Of a whole stream, from its first chunk on. `sink` outlives this.
    explicit ChunkWriter(ChunkSink& sink)
        : m_sink(sink)
    {
    }
    /// Behind `chunks` chunks that somebody else wrote: the chain and index() are then of no use.
    ChunkWriter(ChunkSink& sink, std::uint32_t chunks)
        : m_sink(sink)
    {
        m_packer.continueAt(chunks);
    }

    /// Encodes a payload by `encode(Bytes&)` and writes it.
    template <class Encode> void chunk(ChunkType type, Encode&& encode)
    {
        if (!isWriting())
            return;
        m_payload.clear();
        encode(m_payload);
        append(type);
    }
    /// The index of all chunks so far: the last of what is recorded.
    void index();

    [[nodiscard]] bool isWriting() const { return problem().empty(); }
    /// Why nothing is written any more, in words for the user; empty as long as it is.
    [[nodiscard]] const std::string& problem() const
    {
        return m_problem.empty() ? m_sink.problem() : m_problem;
    }
    [[nodiscard]] std::uint32_t chunks() const { return m_packer.sequence(); } ///< of the stream so far
    [[nodiscard]] std::uint64_t chain() const { return m_packer.chain(); } ///< chainHash() over them

private:
    struct Entry {
        ChunkType type;
        std::uint64_t offset;
    };

    void append(ChunkType type);

    ChunkSink& m_sink;
    ChunkPacker m_packer;
    Bytes m_payload, m_packed;
    std::vector<Entry> m_index;
    std::uint64_t m_offset = 0;
    std::string m_problem;
};

} // namespace strata::wire
