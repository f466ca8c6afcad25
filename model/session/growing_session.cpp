// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/growing_session.h"

#include <algorithm>
#include <utility>

namespace strata::model {

GrowingSession::GrowingSession(std::unique_ptr<Recording> start)
    : m_recording(std::move(start))
{
}

GrowingSession::~GrowingSession() = default;

Result<std::shared_ptr<const Session>> GrowingSession::append(
    const EndKnown& endKnown, const Progress& progress)
{
    const auto cancelled = [] { return fail(Error::Kind::Cancelled, say("cancelled")); };
    for (DeviceRecording& device : m_recording->devices) {
        Device& known = m_devices[device.device];
        const bool newBase = !known.base.isSame(device.base.segments);
        const bool newEnd = !known.end.isSame(device.finalSegments);
        known.base = device.base.segments;
        known.end = device.finalSegments;
        if (!known.growth.append(*m_recording, device, newBase, newEnd, progress))
            return cancelled();
    }

    auto session = std::make_shared<Session>(Session::Key{});
    session->m_recording = std::make_unique<Recording>(*m_recording);
    std::ranges::sort(session->m_recording->devices, {}, &DeviceRecording::device);
    session->m_devices.reserve(session->m_recording->devices.size());
    for (DeviceRecording& device : session->m_recording->devices) {
        std::optional<DeviceTrace> trace = m_devices[device.device].growth.publish(
            *session->m_recording, device, endKnown(device), progress);
        if (!trace)
            return cancelled();
        session->m_devices.push_back(std::move(*trace));
    }
    const std::lock_guard lock(m_mutex);
    m_latest = session;
    return session;
}

void GrowingSession::replace(Recording recording)
{
    *m_recording = std::move(recording);
    m_devices.clear();
}

std::shared_ptr<const Session> GrowingSession::latest() const
{
    const std::lock_guard lock(m_mutex);
    return m_latest;
}

} // namespace strata::model
