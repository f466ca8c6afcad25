// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/readers/source/byte_source.h"
#include "model/wire/chunk.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// The chunks of a session, one after the other, each checked against its hash. One thread.
class ChunkStream {
public:
    explicit ChunkStream(ByteSource& source)
        : m_source(source)
        , m_headBytes(wire::kHeadBytes)
    {
    }

    enum class Step {
        Chunk, ///< head() is there, and its content to be read by payload() or passOver()
        End, ///< the stream ends behind a whole chunk
        Stopped, ///< status() says why; failed reads are Damaged
    };
    /// The head of the next chunk.
    [[nodiscard]] Step next();
    /// Its content, unpacked; nullptr: status() says why.
    [[nodiscard]] const wire::Bytes* payload();
    /// Its content is what was written, whatever that says. False: status() says why.
    [[nodiscard]] bool passOver();

    [[nodiscard]] const wire::ChunkHead& head() const { return m_head; }
    [[nodiscard]] wire::ChunkStatus status() const { return m_status; }
    /// What status() means to the user, or what the system said.
    [[nodiscard]] Sentence problem() const;
    /// Of the chunk that next() gave last, or of where the stream ended.
    [[nodiscard]] std::uint64_t offset() const { return m_offset; }
    [[nodiscard]] std::uint32_t sequence() const { return m_sequence; } ///< of the next chunk
    [[nodiscard]] std::uint64_t chain() const { return m_chain; } ///< over the chunks before this one

private:
    [[nodiscard]] std::size_t fill(std::span<std::byte> into);
    [[nodiscard]] bool readStored();

    ByteSource& m_source;
    std::vector<std::byte> m_headBytes, m_stored;
    wire::Bytes m_payload;
    wire::ChunkHead m_head;
    wire::ChunkStatus m_status = wire::ChunkStatus::Ok;
    Sentence m_readError;
    bool m_begun = false;
    std::uint64_t m_offset = 0, m_chain = 0;
    std::uint32_t m_sequence = 0;
};

} // namespace strata::model
