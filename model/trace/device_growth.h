// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/trace/pairing/block_pairing.h"
#include "model/trace/pairing/segment_tracker.h"
#include "model/trace/trace_checks.h"

#include <cstddef>
#include <memory>
#include <optional>

namespace strata::model {

/// Makes the trace of a device exact while it grows. Events behind a base state cost what they are
/// themselves. A pass over all of them cost: an end state, which is worked out anew each time; a base state
/// that comes late; without a base state, frees of blocks that nothing told of before.
///
/// For one thread. The device and its recording are given to each call, since they may have moved.
class DeviceGrowth {
public:
    DeviceGrowth();
    ~DeviceGrowth();

    /// Takes in what `device` has and had not at the last call: events, a base state (`newBase`), other final
    /// segments (`newEnd`). Fills the `block` column of its events and may add pools to the recording. False
    /// when cancelled: then it is of no more use.
    [[nodiscard]] bool append(
        Recording& recording, DeviceRecording& device, bool newBase, bool newEnd, const Progress& progress);

    /// What is known, as a trace that readers keep. `device` and `recording` are copies of those that were
    /// appended last; the trace points to them. With `endKnown`, its final segments are what there is after
    /// its last event. None when cancelled.
    [[nodiscard]] std::optional<DeviceTrace> publish(
        const Recording& recording, DeviceRecording& device, bool endKnown, const Progress& progress);

    /// The same for the last time, for the recording itself: costs no memory for a copy.
    [[nodiscard]] std::optional<DeviceTrace> finish(
        const Recording& recording, DeviceRecording& device, bool endKnown, const Progress& progress);

private:
    struct State;

    void restart(const DeviceRecording& device);
    void takePools(const DeviceRecording& device);
    void takeTimes(const EventColumns& events);
    void takeOutOfMemories(const EventColumns& events);
    void updateLives();
    std::optional<DeviceTrace> assemble(BlockColumns blocks, const Recording& recording,
        DeviceRecording& device, bool endKnown, const Progress& progress);
    void fillTotals(
        Totals& totals, const DeviceRecording& device, const OlderBlocks& older, bool endKnown) const;

    std::unique_ptr<State> m_state; // none before the first append()
};

} // namespace strata::model
