// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/session.h"

#include "model/session/program_notes.h"

#include <algorithm>
#include <utility>

namespace strata::model {

Result<std::shared_ptr<const Session>> Session::fromRecording(
    std::unique_ptr<Recording> recording, const Progress& progress)
{
    auto session = std::make_shared<Session>(Key{});
    session->m_recording = std::move(recording);
    std::vector<DeviceRecording>& devices = session->m_recording->devices;
    session->m_devices.reserve(devices.size());
    for (DeviceRecording& device : devices) {
        Result<DeviceTrace> trace = DeviceTrace::build(*session->m_recording, device, progress);
        if (!trace)
            return Failure(std::move(trace.error()));
        session->m_devices.push_back(std::move(*trace));
    }
    if (const DeviceTrace* const trace = session->defaultDevice())
        addProgramNotes(*session->m_recording, trace->device());
    return session;
}

const DeviceTrace* Session::find(int device) const
{
    const auto found = std::find_if(
        m_devices.begin(), m_devices.end(), [device](const DeviceTrace& d) { return d.device() == device; });
    return found == m_devices.end() ? nullptr : &*found;
}

const DeviceTrace* Session::defaultDevice() const
{
    const auto highest = std::max_element(
        m_devices.begin(), m_devices.end(), [](const DeviceTrace& a, const DeviceTrace& b) {
            return a.totals().reservedBytesPeak < b.totals().reservedBytesPeak;
        });
    return highest == m_devices.end() ? nullptr : &*highest;
}

bool Session::exact() const
{
    return std::none_of(m_devices.begin(), m_devices.end(), [](const DeviceTrace& device) {
        return std::any_of(device.findings().begin(), device.findings().end(),
            [](const Finding& finding) { return isBreach(finding.check); });
    });
}

} // namespace strata::model
