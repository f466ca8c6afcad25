// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/groups.h"
#include "model/digest/digest.h"

#include <vector>

namespace strata::model {

/// One failed request of the driver, with what filled the device then.
struct OutOfMemory : OutOfMemoryFigures {
    StackId request; ///< who asked
    std::vector<GroupSum> biggest; ///< by line, largest first, three at most; of the last kDetailedOoms alone
};

/// Every out-of-memory of the trace, in order. O(events), plus a live set for each of the last kDetailedOoms.
[[nodiscard]] std::vector<OutOfMemory> outOfMemories(
    const DeviceTrace& trace, const GroupTable& byLine, const StateAt& stateAt);

/// The same of a device without its events. `byLine` knows the stacks of its digest.
[[nodiscard]] std::vector<OutOfMemory> outOfMemories(const DeviceDigest& digest, const GroupTable& byLine);

} // namespace strata::model
