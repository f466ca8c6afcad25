// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leak_sites.h"
#include "model/analysis/training/leaks.h"

namespace strata::model {

/// What is known of how the blocks of a site come about.
struct LeakOrigin {
    Phase phase = Phase::Unknown; ///< in which most of them are born
    StepKind step = StepKind::Train; ///< in steps of which kind
    bool inOptimizer = false; ///< by their phase, or their stack
    bool inHistory = false; ///< of an optimizer that keeps some steps (LBFGS)
    bool inHook = false; ///< of a module
    bool inModule = false; ///< called by one, or by a function of torch.nn
    bool freshStreams = false; ///< each is on a stream of its own
    bool firstOfStep = false; ///< among the first allocations of its step
};
[[nodiscard]] LeakOrigin originOf(
    const DeviceTrace& trace, const TrainingSteps& steps, const StayingSite& site);

/// What else is known when a site is described.
struct LeakSurroundings {
    std::uint32_t steps = 0; ///< that were compared
    std::size_t forwardLeaks = 0; ///< sites that leak what a forward makes
    bool framesKnown = false; ///< of its allocations
    bool someSteps = false; ///< it leaks in some steps alone
};

/// The words of a site: its pattern, what helps, what decided.
void describe(
    LeakSite& site, const LeakShape& shape, const LeakOrigin& origin, const LeakSurroundings& around);

} // namespace strata::model
