// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/session/chunk_stream.h"

namespace strata::model {

using wire::ChunkStatus;

/// Fills `into` unless the source ends or fails first; how much there was.
std::size_t ChunkStream::fill(std::span<std::byte> into)
{
    std::size_t have = 0;
    while (have < into.size()) {
        const Result<std::size_t> got = m_source.read(into.subspan(have));
        if (!got) {
            m_readError = got.error().what;
            m_status = ChunkStatus::Damaged;
            return 0;
        }
        if (*got == 0)
            break;
        have += *got;
    }
    return have;
}

ChunkStream::Step ChunkStream::next()
{
    if (m_begun) {
        m_offset += wire::kHeadBytes + m_head.storedBytes;
        m_chain = wire::chainHash(m_chain, m_head.hash);
    }
    const std::size_t have = fill(m_headBytes);
    if (!m_readError.empty())
        return Step::Stopped;
    m_begun = have > 0;
    if (have == 0)
        return Step::End;
    m_status = wire::readHead(std::span(m_headBytes).first(have), m_head);
    if (m_status == ChunkStatus::Ok && m_head.sequence != m_sequence++)
        m_status = ChunkStatus::Damaged;
    return m_status == ChunkStatus::Ok ? Step::Chunk : Step::Stopped;
}

bool ChunkStream::readStored()
{
    m_stored.resize(m_head.storedBytes);
    const std::size_t have = fill(m_stored);
    if (!m_readError.empty())
        return false;
    m_stored.resize(have);
    return true;
}

const wire::Bytes* ChunkStream::payload()
{
    if (readStored())
        m_status = wire::unpack(m_head, m_headBytes, m_stored, m_payload);
    return m_status == ChunkStatus::Ok ? &m_payload : nullptr;
}

bool ChunkStream::passOver()
{
    if (readStored())
        m_status = wire::checkStored(m_head, m_headBytes, m_stored);
    return m_status == ChunkStatus::Ok;
}

Sentence ChunkStream::problem() const
{
    if (!m_readError.empty())
        return m_readError;
    switch (m_status) {
    case ChunkStatus::Incomplete:
        return say("the file ends inside a chunk: the recording was cut off there");
    case ChunkStatus::Newer:
        return say("a chunk is of a newer version of the format");
    default:
        return say("a chunk is damaged");
    }
}

} // namespace strata::model
