// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/trace/recording.h"

#include <memory>
#include <vector>

namespace strata::model {

/// All that one file holds, made exact. Immutable: share it between threads and views by shared_ptr<const
/// Session>.
class Session {
    struct Key { };

public:
    explicit Session(Key) { } ///< made by fromRecording() alone; files open through Opener

    /// Takes what a reader (or a test) made.
    [[nodiscard]] static Result<std::shared_ptr<const Session>> fromRecording(
        std::unique_ptr<Recording> recording, const Progress& progress = {});

    [[nodiscard]] const Recording& recording() const { return *m_recording; }
    [[nodiscard]] const std::vector<DeviceTrace>& devices() const { return m_devices; }
    [[nodiscard]] const DeviceTrace* find(int device) const;
    /// The device with the highest reserved peak; nullptr if the recording has none.
    [[nodiscard]] const DeviceTrace* defaultDevice() const;

    /// No breach on any device.
    [[nodiscard]] bool exact() const;

private:
    friend class GrowingSession;

    std::unique_ptr<Recording> m_recording;
    std::vector<DeviceTrace> m_devices;
};

} // namespace strata::model
