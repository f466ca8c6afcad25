// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// A forward, a backward, and the optimizers that stepped behind it.
struct StepTurn {
    EventIndex last = -1; ///< of the last of them
    EventIndex first = -1; ///< the first of theirs; -1: none is known
    std::vector<std::uint32_t> optimizers; ///< as Update::optimizer
};

/// Those that end a step. Optimizers that step behind one backward belong together, and so do many that step
/// only once. Groups of them that take turns, again and again (a critic, a generator), are of one step, which
/// ends with the group that has fewer turns, or of equals the one that has its first turn last. Groups of
/// which one follows the other once (a second stage of training) are not.
///
/// Where optimizers cannot be told from each other, gradients tell them: by the sizes of what is left when a
/// turn ends, every other turn being like the one before the last and unlike the last. O(turns log turns +
/// blocks) then.
[[nodiscard]] std::vector<StepTurn> lastTurns(const DeviceTrace& trace, std::vector<StepTurn> turns);

} // namespace strata::model
