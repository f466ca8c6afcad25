// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/session/outline.h"

#include "model/readers/reader.h"

namespace strata::model {

std::optional<SessionOutline> SessionOutline::open(const std::filesystem::path& path, bool force)
{
    ReadLimits limits;
    limits.force = force;
    std::optional<RecordingOutline> read = readOutline(path, limits);
    if (!read)
        return std::nullopt;
    SessionOutline outline;
    outline.recording = std::move(read->recording);
    const std::vector<DeviceRecording>& devices = outline.recording->devices;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        auto device = outlineOf(*outline.recording, devices[i], std::move(read->digests[i]));
        if (!device)
            return std::nullopt;
        outline.devices.push_back(std::move(*device));
    }
    return outline;
}

} // namespace strata::model
