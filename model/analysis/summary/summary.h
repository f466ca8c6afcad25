// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/groups.h"
#include "model/analysis/summary/needs.h"
#include "model/analysis/summary/ooms.h"
#include "model/base/sentence.h"
#include "model/digest/outline.h"
#include "model/session/session.h"
#include "model/timeline/device_timeline.h"
#include "model/timeline/rounded_curves.h"
#include "model/trace/event_times.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// Bytes of the end state that no tensor uses.
struct Waste {
    std::int64_t rounding = 0; ///< rounded minus requested, of active blocks
    std::int64_t freeInSegments = 0; ///< inactive blocks
    std::int64_t pendingFree = 0; ///< requested bytes of blocks that wait for another stream
};

/// A figure of which the recording tells this much.
struct Bound {
    std::int64_t least = 0, most = 0;
    [[nodiscard]] bool exact() const { return least == most; }
    friend bool operator==(const Bound&, const Bound&) = default;
};

/// Bytes that were reserved and that no tensor used, at the peak of requested. Rounded sizes in the middle of
/// a trace are not recorded: what is not lost to rounding is free, and the other way round.
struct WasteAtPeak {
    Bound rounding, freeInSegments; ///< together what was reserved and not requested
    std::int64_t pendingFree = 0; ///< requested bytes of blocks that waited for another stream
};
[[nodiscard]] WasteAtPeak wasteAtPeak(const PeakUse& use);

/// What the device offers PyTorch.
struct Capacity {
    std::int64_t bytes = 0;
    bool exact = false; ///< the recording says so; else free + reserved at an out-of-memory, at least
    friend bool operator==(const Capacity&, const Capacity&) = default;
};

/// What the driver said was in use, at the moments when it was asked: all that PyTorch does not count, too.
struct DriverSummary {
    std::int64_t readings = 0;
    std::int64_t usedBytesPeak = 0; ///< by all processes on the device
    std::optional<std::int64_t> processBytesPeak; ///< by the process that was recorded
    /// Of it outside of what PyTorch had reserved at the same moment: contexts, NCCL, other libraries.
    std::optional<std::int64_t> outsideBytesPeak;
    friend bool operator==(const DriverSummary&, const DriverSummary&) = default;
};

/// Before `event`, `bytes` were in use.
struct DriverPoint {
    EventIndex event = 0;
    std::int64_t bytes = 0;
};
struct DriverCurve {
    std::vector<DriverPoint> points; ///< by event
    bool ofProcess = false; ///< else of all processes: the driver did not say whose
};

/// All that the Summary page and `strata summary` say of one device.
struct DeviceSummary {
    int device = 0;
    Totals totals;
    std::vector<OutOfMemory> outOfMemory; ///< in order
    Waste waste; ///< of the end state
    PeakUse peakUse;
    LiveGroups peak; ///< by line, at the peak of requested bytes
    std::optional<std::int64_t> peakTimeNs; ///< since the epoch
    std::optional<std::int64_t> firstTimeNs; ///< of the first event
    std::optional<std::int64_t> latestTimeNs; ///< the highest of any event
    std::int64_t breaches = 0; ///< findings that are
    bool olderEventsGone = false; ///< the recorder's ring was full
    std::optional<Capacity> capacity;
    std::optional<DriverSummary> driver; ///< where it was recorded
    std::optional<Needs> needs; ///< and the cards that have as much
    std::vector<Sentence> verdict; ///< the first sentences of the page
};

/// O(events) without a timeline, which is what one summary needs; with one O(live blocks), for the peak and
/// for each out-of-memory that has details.
[[nodiscard]] DeviceSummary summarize(const DeviceTimeline& timeline, const GroupTable& byLine);
[[nodiscard]] DeviceSummary summarize(const DeviceTrace& trace, const GroupTable& byLine);

/// `summary` with what rounded sizes tell that are all known: what was free in segments, and lost to
/// rounding, at the peak and at each out-of-memory. O(out-of-memories x log events).
[[nodiscard]] DeviceSummary withRoundedSizes(
    DeviceSummary summary, const DeviceTrace& trace, const RoundedCurves& curves, const GroupTable& byLine);

/// The same of a device without its events.
[[nodiscard]] DeviceSummary summarize(const Recording& recording, const DeviceRecording& device,
    const DeviceOutline& outline, const GroupTable& byLine);
/// The lines of a device without its events: all that its summary names.
[[nodiscard]] GroupTable linesOf(const Recording& recording, const DeviceOutline& outline);

[[nodiscard]] std::optional<DriverSummary> driverSummaryOf(const Recording& recording, int device);
[[nodiscard]] DriverCurve driverCurveOf(const Recording& recording, int device);
[[nodiscard]] Waste wasteOf(std::span<const FinalBlock> finalBlocks);

} // namespace strata::model
