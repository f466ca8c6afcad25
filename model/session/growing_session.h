// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/session/session.h"
#include "model/trace/device_growth.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

namespace strata::model {

/// A session that grows while its source goes on: a recorder that is followed, a file that is still written.
///
///     source -> recording()   append() -> generation 1      readers keep what they have:
///               adds rows     append() -> generation 2      generations share what is the same
///
/// A generation is a Session like that of a file: immutable, and never disturbed by those that follow. Its
/// last event is the last so far; blocks keep their numbers from generation to generation. What an append
/// costs: DeviceGrowth. One thread appends; any may ask for latest().
class GrowingSession {
public:
    explicit GrowingSession(std::unique_ptr<Recording> start = std::make_unique<Recording>());
    ~GrowingSession();

    /// Where the source adds what it tells: rows at the ends of columns and tables, devices in any order,
    /// states that replace those of their device, more known frames. SessionBuilder does so. For the thread
    /// that appends, between its calls.
    [[nodiscard]] Recording& recording() { return *m_recording; }

    /// Whether a device's final segments are what there is after its last event.
    using EndKnown = std::function<bool(const DeviceRecording& device)>;

    /// Takes in what was added since the last call and publishes the next generation. Fails only when
    /// cancelled; then nothing can be appended any more.
    [[nodiscard]] Result<std::shared_ptr<const Session>> append(
        const EndKnown& endKnown, const Progress& progress = {});

    /// Goes on with another recording in the place of this one: the next append takes in all of it. For the
    /// thread that appends.
    void replace(Recording recording);

    /// The newest generation; none before the first.
    [[nodiscard]] std::shared_ptr<const Session> latest() const;

private:
    struct Device {
        DeviceGrowth growth;
        SharedVector<FinalSegment> base, end; ///< as it was appended last: what replaces it is told apart
    };

    std::unique_ptr<Recording> m_recording;
    std::map<int, Device> m_devices;
    mutable std::mutex m_mutex; // guards what follows
    std::shared_ptr<const Session> m_latest;
};

} // namespace strata::model
