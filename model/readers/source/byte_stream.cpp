// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/source/byte_stream.h"

#include <algorithm>
#include <cstring>

namespace strata::model {

ByteStream::ByteStream(
    std::unique_ptr<ByteSource> source, const Progress& progress, std::function<std::int64_t()> eventsSoFar)
    : m_source(std::move(source))
    , m_progress(progress)
    , m_eventsSoFar(std::move(eventsSoFar))
{
    const std::uint64_t total = m_source->fileBytesTotal();
    const std::size_t piece = total > 0 && total < kPiece ? static_cast<std::size_t>(total) : kPiece;
    m_buffer.resize(std::max(piece, std::size_t{ 4096 }) + kSlack);
    m_next = m_end = bufferStart();
}

bool ByteStream::fill(const std::uint8_t* next, std::size_t count)
{
    std::size_t have = static_cast<std::size_t>(m_end - next);
    const std::size_t consumed = static_cast<std::size_t>(next - bufferStart());
    if (have < count && !m_ended && consumed > 0) {
        std::memmove(m_buffer.data(), next, have);
        m_bufferAt += consumed;
        next = bufferStart();
    }
    std::size_t start = static_cast<std::size_t>(next - bufferStart());
    while (have < count && !m_ended) {
        if (m_progress.cancelled()) {
            m_error = Error{ Error::Kind::Cancelled, say("cancelled"), {}, {} };
            m_ended = true;
            break;
        }
        if (start + have + kSlack >= m_buffer.size())
            m_buffer.resize((m_buffer.size() - kSlack) * 2 + kSlack);
        const std::size_t room = m_buffer.size() - kSlack - start - have;
        const Result<std::size_t> got = m_source->read(std::span(m_buffer).subspan(start + have, room));
        if (!got) {
            m_error = got.error();
            m_ended = true;
        } else if (*got == 0) {
            m_ended = true;
        } else {
            have += *got;
        }
        report();
    }
    m_next = bufferStart() + start;
    m_end = m_next + have;
    std::memset(m_buffer.data() + start + have, 0, kSlack);
    return have >= count;
}

bool ByteStream::skip(const std::uint8_t* next, std::uint64_t count)
{
    const std::uint64_t have = static_cast<std::uint64_t>(m_end - next);
    if (count <= have) {
        m_next = next + count;
        return true;
    }
    std::uint64_t left = count - have;
    m_bufferAt = offsetOf(m_end);
    m_next = m_end = bufferStart();
    std::memset(m_buffer.data(), 0, kSlack);
    while (left > 0 && !m_ended) {
        if (m_progress.cancelled()) {
            m_error = Error{ Error::Kind::Cancelled, say("cancelled"), {}, {} };
            m_ended = true;
            break;
        }
        const Result<std::uint64_t> got = m_source->skip(std::min<std::uint64_t>(left, kPiece * 64));
        if (!got) {
            m_error = got.error();
            m_ended = true;
        } else if (*got == 0) {
            m_ended = true;
        } else {
            left -= *got;
            m_bufferAt += *got;
        }
        report();
    }
    return left == 0;
}

std::unique_ptr<ByteSource> ByteStream::rest(const std::uint8_t* next) &&
{
    const std::size_t first = static_cast<std::size_t>(next - bufferStart());
    const std::size_t count = static_cast<std::size_t>(m_end - next);
    std::vector<std::byte> head(m_buffer.begin() + static_cast<std::ptrdiff_t>(first),
        m_buffer.begin() + static_cast<std::ptrdiff_t>(first + count));
    return prefixedSource(std::move(head), std::move(m_source));
}

void ByteStream::report()
{
    const std::uint64_t done = m_source->fileBytesDone();
    const std::uint64_t total = m_source->fileBytesTotal();
    if (done - m_reportedAt < std::max<std::uint64_t>(total / 256, 1) && done != total)
        return;
    m_reportedAt = done;
    m_progress({ Stage::Reading, static_cast<std::int64_t>(done), static_cast<std::int64_t>(total),
        m_eventsSoFar ? m_eventsSoFar() : 0 });
}

} // namespace strata::model
