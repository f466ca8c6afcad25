// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/stream_copy.h"

#include "model/wire/link/link_chunks.h"

namespace strata::model {

std::span<const std::byte> StreamCopy::take(const wire::ChunkHead& head, std::span<const std::byte> chunk)
{
    if (!m_late)
        return chunk;
    if (head.type == wire::ChunkType::Digest)
        return {};
    if (head.type == wire::ChunkType::Index)
        makeIndex();
    else {
        m_copy.assign(chunk.begin(), chunk.end());
        m_index.emplace_back(head.type, m_bytes);
    }
    wire::renumberChunk(m_copy, m_chunks++);
    m_bytes += m_copy.size();
    return m_copy;
}

void StreamCopy::makeIndex()
{
    wire::Bytes payload;
    wire::ByteWriter writer(payload);
    writer.varint(m_index.size());
    std::uint64_t last = 0;
    for (const auto& [type, offset] : m_index) {
        writer.varint(static_cast<std::uint16_t>(type));
        writer.varint(offset - last);
        last = offset;
    }
    m_copy.clear();
    wire::ChunkPacker packer;
    [[maybe_unused]] const bool packed = packer.pack(wire::ChunkType::Index, payload, m_copy);
}

} // namespace strata::model
