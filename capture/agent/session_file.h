// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/chunk.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::agent {

/// A session file while it grows: chunks are appended whole and are in the system's hands when chunk()
/// returns, so that they outlive the process. The first failure ends the file at its last whole chunk:
/// nothing is written after that, and problem() says why. One thread.
class SessionFile {
public:
    SessionFile() = default;
    ~SessionFile();
    SessionFile(const SessionFile&) = delete;
    SessionFile& operator=(const SessionFile&) = delete;

    /// Makes the file, which must not be there. False: problem() says why.
    [[nodiscard]] bool create(const std::string& path);
    /// errno of a create() that failed.
    [[nodiscard]] int lastError() const { return m_errno; }

    /// Encodes a payload by `encode(wire::Bytes&)` and appends it.
    template <class Encode> void chunk(wire::ChunkType type, Encode&& encode)
    {
        if (!isOpen())
            return;
        m_payload.clear();
        encode(m_payload);
        append(type);
    }
    /// The index, and nothing after it.
    void finish();

    [[nodiscard]] bool isOpen() const { return m_file >= 0; }
    [[nodiscard]] const std::string& path() const { return m_path; }
    [[nodiscard]] const std::string& problem() const { return m_problem; }
    [[nodiscard]] std::uint64_t bytes() const { return m_bytes; }
    [[nodiscard]] std::uint64_t chunks() const { return m_packer.sequence(); }
    [[nodiscard]] std::uint64_t chain() const { return m_packer.chain(); } ///< wire::chainHash() over them

    /// Ends the file if somebody removed it: what would be written could not be seen any more.
    void checkStillThere();

private:
    struct Entry {
        wire::ChunkType type;
        std::uint64_t offset;
    };

    void append(wire::ChunkType type);
    void fail(const std::string& why);
    void close();

    std::string m_path, m_problem;
    int m_file = -1, m_errno = 0;
    std::uint64_t m_bytes = 0;
    wire::ChunkPacker m_packer;
    wire::Bytes m_payload, m_packed;
    std::vector<Entry> m_index;
};

} // namespace strata::agent
