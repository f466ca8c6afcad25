// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leaks/leak_sites.h"

#include <span>
#include <vector>

namespace strata::model {

/// What the steps after the warm-up took, one after the other.
struct LeakStepUse {
    std::vector<double> requestedPeak; ///< highest within each
    std::vector<double> requestedEnd; ///< after its last event
    std::vector<double> reservedEnd;
    /// A fifth of the allocations of the last steps at least are of sizes that the first do not have, and
    /// they are larger; and what steps allocate grows from first to last: what a step works on grows. Of each
    /// step that is what it allocates before the first block that is left out, unless that comes at once.
    bool inputsGrow = false;
    /// The allocation of a segment in them that is most of what reserved grew by; none: it did not.
    StackId segmentStack;
};

/// `leftOut`: births of blocks that say nothing of inputs, in order. O(events).
[[nodiscard]] LeakStepUse leakStepUse(
    const DeviceTrace& trace, const LeakBoundaries& boundaries, std::span<const EventIndex> leftOut = {});

} // namespace strata::model
