// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/session/session_reading.h"

#include <utility>

namespace strata::model {

Result<bool> SessionReading::stop(Sentence reason)
{
    m_stopped = true;
    m_builder.finish();
    if (m_recording.devices.empty())
        return fail(Error::Kind::Format, say("byte %1: %2", m_stream.offset(), std::move(reason)),
            say("the recording holds nothing before that place; record it again"));
    // Behind the index the recording is whole: only what somebody was about to add is missing.
    if (m_builder.hasIndex())
        m_recording.user.unreadFrom = m_stream.offset();
    else
        m_recording.truncation = Truncation{ m_stream.offset(), std::move(reason) };
    return false;
}

Result<bool> SessionReading::next()
{
    if (m_stopped)
        return false;
    const ChunkStream::Step step = m_stream.next();
    if (step == ChunkStream::Step::End)
        return false;
    if (step == ChunkStream::Step::Stopped) {
        if (m_stream.status() == wire::ChunkStatus::Newer && m_stream.offset() == 0) {
            m_stopped = true;
            return fail(Error::Kind::Format,
                say("this session was written by a newer Strata (format %1)", m_stream.head().major),
                say("open it with that version or a later one"));
        }
        return stop(m_stream.problem());
    }
    m_unpacked += m_stream.head().unpackedBytes;
    // Rows in memory take up to eight times their bytes in a payload.
    if (m_unpacked > m_memoryLimit / 8) {
        m_stopped = true;
        return fail(Error::Kind::Refused, say("it unpacks to more than this machine's memory should hold"),
            say("use --force to open it anyway"));
    }
    const wire::Bytes* const payload = m_stream.payload();
    if (!payload)
        return stop(m_stream.problem());
    if (!m_builder.take(m_stream.head().type, *payload))
        return stop(say("a chunk is damaged"));
    return true;
}

Result<void> SessionReading::finish()
{
    if (m_stopped)
        return {};
    if (m_recording.devices.empty() && m_recording.format.empty())
        return fail(Error::Kind::Format, say("this session holds no recording"));
    m_builder.finish();
    if (!m_builder.isEnded() && !m_recording.truncation)
        m_recording.truncation = Truncation{ m_stream.offset(), say("its program was killed or still runs") };
    return {};
}

} // namespace strata::model
