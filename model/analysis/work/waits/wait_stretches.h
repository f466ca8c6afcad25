// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/waits/wait_causes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// A stretch of time in which a device has nothing to do, for one cause. Those of a thread do not overlap.
struct WaitStretch {
    static constexpr LaneIndex kNoLane = UINT32_MAX;

    TimeSpan time;
    TimeSpan wait; ///< the call for the device behind which it stands; empty: behind none
    LaneIndex lane = kNoLane; ///< of the thread that was asked about it
    WaitCause cause = WaitCause::Unknown;
    bool isAround = false; ///< before the first or behind the last work of the device
};

/// What a thread did in a stretch.
struct Filling {
    StringId name; ///< none: nothing fills more than half of it
    std::int64_t ns = 0; ///< of the stretch within that; all of one that stands behind that

    friend bool operator==(const Filling&, const Filling&) = default;
};

/// For each stretch what its thread did: the innermost operator, call, function or annotation
/// that fills more than half of it. Of one that stands behind a wait, and of a copy's, the operator of ATen
/// that called it, the outermost of those within each other: aten::item, not aten::_local_scalar_dense; else
/// the call. Steps of torch.profiler are none. O((rows + stretches) log n), and the depth of a stack each.
[[nodiscard]] std::vector<Filling> whatFills(
    std::span<const WaitStretch> stretches, const Work& work, const StringTable& strings);

enum class WaitSide : std::uint8_t { Within, Around, Both };

/// By cause. `stretches` by their begins: of equally long ones the first is the example.
[[nodiscard]] WaitSums sumsOf(std::span<const WaitStretch> stretches, std::span<const Filling> fillings,
    const StringTable& strings, WaitSide side);

} // namespace strata::model
