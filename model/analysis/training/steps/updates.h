// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/work_runs.h"
#include "model/timeline/clock.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// What one call of an optimizer's step() spans: outermost ranges that optimizers annotate ("the range"),
/// and listings of roles that say after which event an optimizer was done, exactly, whatever the times are.
struct Update {
    /// From here on they are numbers of names, which several optimizers may have.
    static constexpr std::uint32_t kNamed = 0x80000000u;

    EventIndex first = 0; ///< its first event; last + 1: it has none
    EventIndex last = -1; ///< its last one, or the one before it
    EventIndex exactLast = -1; ///< as listed; -1: it was not
    bool beginKnown = true; ///< a listing alone tells only of the end
    std::uint32_t optimizer
        = kNamed; ///< the same for the same optimizer: numbered if listings tell, else by name
};

/// In the order of their ends. O(annotations log annotations + listings).
[[nodiscard]] std::vector<Update> updatesOf(const DeviceTrace& trace, const Clock& clock);

/// Puts what happened in updates in its place: there, what runs without gradients, and what backward does in
/// one that holds no forward (an optimizer that steps as gradients come), is the optimizer.
void markUpdates(WorkHistory& work, std::vector<Update>& updates);

} // namespace strata::model
