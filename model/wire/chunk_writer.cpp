// SPDX-License-Identifier: Apache-2.0
#include "model/wire/chunk_writer.h"

namespace strata::wire {

void ChunkWriter::append(ChunkType type)
{
    m_packed.clear();
    if (!m_packer.pack(type, m_payload, m_packed)) {
        m_problem = "a part of it is too large";
        return;
    }
    if (!m_sink.write(m_packed))
        return;
    m_index.push_back({ type, m_offset });
    m_offset += m_packed.size();
}

void ChunkWriter::index()
{
    chunk(ChunkType::Index, [&](Bytes& out) {
        ByteWriter writer(out);
        writer.varint(m_index.size());
        std::uint64_t last = 0;
        for (const Entry& entry : m_index) {
            writer.varint(static_cast<std::uint16_t>(entry.type));
            writer.varint(entry.offset - last);
            last = entry.offset;
        }
    });
}

} // namespace strata::wire
