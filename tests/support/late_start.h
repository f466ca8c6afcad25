// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/allocator/replay.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace strata::test {

/// The events of one device from `first` on, as a snapshot has them whose ring was full: the end state stays,
/// nothing tells what was there before.
[[nodiscard]] std::unique_ptr<model::Recording> startedLate(
    const model::Recording& recording, int device, model::EventIndex first);

/// What is allocated and active after each event, before the first one at [0].
struct RoundedCurves {
    std::vector<std::int64_t> allocated, active;
};
[[nodiscard]] RoundedCurves roundedCurves(
    const model::DeviceTrace& trace, const model::BlockColumn<std::uint32_t>& rounding);

/// What a check of a late start comes to, beside the whole recording.
struct LateStart {
    bool exact = false;
    bool curvesDiffer = false; ///< from those of the whole recording, where all events are equal
    bool falselyExact = false; ///< exact, and they differ
    bool replayed = false; ///< all events and final blocks are equal, be it exact or not
    bool outOfBounds
        = false; ///< replayed, and the whole recording's curves or peaks leave what is said of them
    model::EventIndex exactStates = 0; ///< after as many events allocated and active are called exact
    std::string reason; ///< why it is not exact
    std::string details; ///< the events that differ
    model::EventIndex events = 0;
};
[[nodiscard]] LateStart checkLateStart(
    const model::DeviceTrace& whole, const RoundedCurves& curves, model::EventIndex first);

} // namespace strata::test
