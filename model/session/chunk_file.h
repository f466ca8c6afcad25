// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/wire/chunk_writer.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

namespace strata::model {

/// How far a file can be followed, from chunk to chunk, by their heads.
struct ChunkWalk {
    bool hasIndex = false; ///< a recorder finished it
    std::uint64_t recordedEnd = 0; ///< bytes from its begin to behind the index
    std::uint64_t end = 0; ///< bytes from its begin to behind the last whole chunk
    std::uint32_t chunks = 0;
    wire::Bytes firstInfo; ///< payload of a first chunk of type Info
};

/// A regular file of chunks (model/wire/chunk.h), opened to be added to: what stands in it never changes.
/// Closes itself.
class ChunkFile {
public:
    /// `flags` as of open(2). Nothing but a regular file is opened, or with O_CREAT made: what comes through
    /// a pipe can be read once, and not by us.
    ChunkFile(const std::filesystem::path& path, int flags);
    /// The file that somebody has open, to be read; -1: none.
    explicit ChunkFile(int descriptor);
    ~ChunkFile();
    ChunkFile(const ChunkFile&) = delete;
    ChunkFile& operator=(const ChunkFile&) = delete;

    [[nodiscard]] bool isOpen() const { return m_file >= 0; }
    [[nodiscard]] std::uint64_t bytes() const;
    /// How many bytes of [offset, offset + into.size()) are there, and now in `into`.
    [[nodiscard]] std::size_t read(std::uint64_t offset, std::span<std::byte> into) const;

    /// Waits until no other process of ours adds to it, until it is closed; false with errno set.
    [[nodiscard]] bool lock() const;

    /// Whether a recorder is at work on it (capture/agent/session_file.h): what has no index and no recorder
    /// was killed, or filled its disk.
    [[nodiscard]] bool isBeingRecorded() const;

    using Take = std::function<void(wire::ChunkType, const wire::Bytes& payload)>;
    /// Calls take() for each chunk of user data. Payloads of others are not read, but for the first.
    [[nodiscard]] ChunkWalk walk(const Take& take = {}) const;

    /// Adds the chunks that `write` writes behind `at.end`, cutting off what a crash left half-written there,
    /// and has the system keep them: they survive the process and, where the disk keeps its word, the
    /// machine. False with errno set: nothing was added. The caller holds the lock, and walked under it.
    [[nodiscard]] bool append(
        const ChunkWalk& at, const std::function<void(wire::ChunkWriter&)>& write) const;

private:
    int m_file;
};

} // namespace strata::model
