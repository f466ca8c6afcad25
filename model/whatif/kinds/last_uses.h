// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/prediction.h"
#include "model/whatif/run/run_edits.h"

#include <string>
#include <vector>

namespace strata::model {

/// What the program lets go of sooner.
struct FreedPlace {
    std::string site; ///< what a line, a function, a file asks for, as a filter; empty: all of it
};

/// A program that lets go of tensors behind their last use (free=), as `del` does:
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

    /// All of them at once. Refused: no deep step that is to be used, steps that do other things
    /// than it, nothing is held beyond its last use; and as blocksOfSite(). O(events + rows of the deep
    /// step).
    [[nodiscard]] static Result<FreedTensors> of(
        const RecordedRun& run, const std::vector<FreedPlace>& places);
};

} // namespace strata::model
