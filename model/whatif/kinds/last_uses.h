// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/run_edits.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// A line whose tensors the program has beyond their last use, in a step.
struct HeldLine {
    std::string line; ///< that asks for them, frameLabel()
    std::string lastUse; ///< line that uses them last, or "backward", or "optimizer"; empty: not told
    std::string letGo; ///< line at which they go; empty: they stay
    std::int64_t blocks = 0;
    std::int64_t bytes = 0; ///< of those blocks, requested
    std::optional<std::int64_t> heldNs; ///< the longest; none: they stay, or no times were recorded
};

/// A program that lets go of tensors behind their last use (Change::Kind::Free), as `del` does:
///
///     recorded    x = alloc | last operator with x | ...             | x goes
///     rewritten   x = alloc | last operator with x | x goes   ...
///
/// An operator or module has what it was called with until it returns, and autograd has what it saved until
/// backward has used it. What goes within the statement that uses it last, goes in another thread than the
/// program's, or is used in the next step stays as it is: no `del` lets it go sooner.
struct FreedTensors {
    RunEdits edits;
    std::vector<HeldLine> held; ///< the most bytes first

    /// All such changes of a scenario. Refused: no deep step that is to be used, steps that do other things
    /// than it, nothing is held beyond its last use; and as blocksOfSite(). O(events + rows of the deep
    /// step).
    [[nodiscard]] static Result<FreedTensors> of(const RecordedRun& run, const std::vector<Change>& changes);
};

} // namespace strata::model
