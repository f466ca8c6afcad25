// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/readers/session/session_reading.h"

#include "model/base/units.h"
#include "model/wire/info.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace strata::model {

namespace {

/// Since the recording began, as far as it tells times.
std::optional<std::int64_t> recordedNs(const Recording& recording)
{
    std::optional<std::int64_t> first, last;
    const auto see = [&](std::int64_t timeNs) {
        first = std::min(first.value_or(timeNs), timeNs);
        last = std::max(last.value_or(timeNs), timeNs);
    };
    for (const DeviceRecording& device : recording.devices) {
        const auto& times = device.events.timeNs;
        if (times.size() > 0 && times[0] > 0) {
            see(times[0]);
            see(times[times.size() - 1]);
        }
    }
    for (const DriverReading& reading : recording.driver)
        see(reading.timeNs);
    for (const Annotation& annotation : recording.annotations)
        see(annotation.timeNs);
    return first ? std::optional(*last - *first) : std::nullopt;
}

/// How the program of a recording without an end ended, as a sentence without its full stop.
Sentence interruptionOf(const Recording& recording)
{
    const auto ended = recording.facts.find(wire::info::kEndedBy);
    const auto ns = recordedNs(recording);
    if (ended == recording.facts.end() || ended->second.empty())
        return ns ? say("The program was killed, or still runs: its recording ends %1 after it began",
                   formatDuration(*ns))
                  : say("The program was killed, or still runs");
    return ns ? say("The program was interrupted %1 after the recording began, by %2", formatDuration(*ns),
               ended->second)
              : say("The program was interrupted, by %1", ended->second);
}

} // namespace

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
        m_recording.truncation = Truncation{ m_stream.offset(), interruptionOf(m_recording), true };
    return {};
}

} // namespace strata::model
