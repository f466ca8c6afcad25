// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/readers/session/chunk_stream.h"
#include "model/readers/session/session_builder.h"

#include <cstdint>
#include <string>

namespace strata::model {

/// Takes the chunks of a session into a recording, one after the other, whether they come at once or little
/// by little; says what is wrong with them and where they end. One thread.
class SessionReading {
public:
    /// Both outlive it. Refuses what unpacks to more than `memoryLimit` bytes.
    SessionReading(Recording& recording, ByteSource& source, std::uint64_t memoryLimit)
        : m_recording(recording)
        , m_builder(recording)
        , m_stream(source)
        , m_memoryLimit(memoryLimit)
    {
    }

    /// Takes the next chunk, all of which is in the source if more can come. False: the source is at its end,
    /// or nothing can be read from here on, of which the recording keeps where and why
    /// (Recording::truncation, UserData::unreadFrom). An error if it holds nothing then, or is refused.
    [[nodiscard]] Result<bool> next();
    /// What came so far stands in the recording as it would at the end.
    void settle() { m_builder.finish(); }
    /// SessionBuilder::renumber()
    void renumber(const RenumberedRows& rows) { m_builder.renumber(rows); }
    /// No more comes: says whether the session is whole (Recording::truncation). An error if it is none.
    [[nodiscard]] Result<void> finish();

    [[nodiscard]] bool isStopped() const { return m_stopped; } ///< nothing more can be read
    [[nodiscard]] std::int64_t eventCount() const { return m_builder.eventCount(); } ///< so far
    /// A state behind the last event of the device came.
    [[nodiscard]] bool isEndKnown(const DeviceRecording& device) const
    {
        return m_builder.endsAt(device.device) == static_cast<std::uint64_t>(device.events.size());
    }

private:
    [[nodiscard]] Result<bool> stop(Sentence reason);

    Recording& m_recording;
    SessionBuilder m_builder;
    ChunkStream m_stream;
    std::uint64_t m_memoryLimit;
    std::uint64_t m_unpacked = 0;
    bool m_stopped = false;
};

} // namespace strata::model
