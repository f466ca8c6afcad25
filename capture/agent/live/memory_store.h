// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/live/chunk_store.h"
#include "capture/agent/live/retained_state.h"

#include <deque>
#include <mutex>

namespace strata::agent {

/// Keeps the last chunks of a recording that has no file, so many bytes of them, and what the others come to:
///
///     [ tables | state after the chunks that were dropped ] [ chunk ][ chunk ][ chunk ]
///       RetainedState                                         at most `limit` bytes
///
/// A viewer that joins late is given the first part as chunks, and goes on with the second.
class MemoryStore final : public ChunkStore {
public:
    explicit MemoryStore(std::uint64_t limit)
        : m_limit(limit)
    {
    }

    bool add(std::span<const std::byte> chunk) override;
    [[nodiscard]] bool seek(Cursor& cursor, std::uint32_t sequence) override;
    [[nodiscard]] Fetched fetch(Cursor& cursor, std::size_t most, wire::Bytes& out) override;
    wire::Gap startLate(Cursor& cursor) override;
    void keep() override;

private:
    const std::uint64_t m_limit;
    RetainedState m_dropped; // of the server's thread
    std::mutex m_mutex; // guards what follows
    std::deque<std::shared_ptr<const wire::Bytes>> m_chunks;
    std::uint32_t m_first = 0; // sequence number of m_chunks[0]
    std::uint64_t m_bytes = 0;
};

} // namespace strata::agent
