// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/chunk_sink.h"

#include <cstdint>
#include <string>

namespace strata::agent {

/// A session file while it grows: a chunk is in the system's hands when write() returns. The first failure
/// ends the file at its last whole chunk. It holds a lock by which others see that it is at work.
class SessionFile final : public wire::ChunkSink {
public:
    SessionFile() = default;
    ~SessionFile() override;

    /// Makes the file, which must not be there. False: problem() says why.
    [[nodiscard]] bool create(const std::string& path);
    /// errno of a create() that failed.
    [[nodiscard]] int lastError() const { return m_errno; }

    [[nodiscard]] bool write(std::span<const std::byte> chunk) override;
    /// Fails if somebody removed the file: what would be written could not be seen any more.
    void check() override;
    void close() override;
    [[nodiscard]] std::string name() const override { return m_path; }

private:
    void end(const std::string& why);

    std::string m_path;
    int m_file = -1, m_errno = 0;
    std::uint64_t m_bytes = 0;
};

} // namespace strata::agent
