// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/live/chunk_store.h"

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace strata::agent {

/// Reads from the session file what viewers have not got: nothing is ever dropped, and however slow one is,
/// nothing is kept for it. A viewer costs a read of what it is sent.
class FileStore final : public ChunkStore {
public:
    FileStore() = default;
    ~FileStore() override;

    /// The file that is written, from its first chunk on. False: errno says why.
    [[nodiscard]] bool open(const std::string& path);

    bool add(std::span<const std::byte> chunk) override;
    [[nodiscard]] bool seek(Cursor& cursor, std::uint32_t sequence) override;
    [[nodiscard]] Fetched fetch(Cursor& cursor, std::size_t most, wire::Bytes& out) override;
    wire::Gap startLate(Cursor& cursor) override;
    void keep() override { }

private:
    static constexpr std::uint32_t kStride = 64;

    /// Bytes of the chunk whose head begins at `offset`; 0 if there is none.
    [[nodiscard]] std::uint64_t chunkAt(std::uint64_t offset) const;

    int m_file = -1;
    std::atomic<std::uint64_t> m_end{ 0 }; // behind the last whole chunk
    std::atomic<std::uint32_t> m_chunks{ 0 };
    std::mutex m_mutex; // guards what follows
    std::vector<std::uint64_t> m_offsets; // of every kStride-th chunk: a day of them is 0.6 MB
};

} // namespace strata::agent
