// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/wire/chunk_writer.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace strata::model {

/// Makes a session of its own of the chunks that a link gives. One that is followed from its first chunk on
/// stays as it is, byte for byte. One that was joined late is numbered anew; its digests, which speak of
/// chunks that are not there, are left out, and its index is made here. One thread.
class StreamCopy {
public:
    explicit StreamCopy(bool joinedLate)
        : m_late(joinedLate)
    {
    }

    /// The next chunk as it is to be written; empty: it is left out. Valid until the next call, and no longer
    /// than `chunk`.
    [[nodiscard]] std::span<const std::byte> take(
        const wire::ChunkHead& head, std::span<const std::byte> chunk);

private:
    void makeIndex();

    const bool m_late;
    std::uint32_t m_chunks = 0;
    std::uint64_t m_bytes = 0;
    std::vector<std::pair<wire::ChunkType, std::uint64_t>> m_index; // where a late one has which chunk
    wire::Bytes m_copy;
};

} // namespace strata::model
