// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/whatif/run/step_edits.h"

#include <span>
#include <vector>

namespace strata::model {

/// The forward of a checkpointed module, and the one that backward makes again.
struct ForwardAgain {
    const StepOwners::Window *first = nullptr, *again = nullptr;
};

/// What checkpointed modules take and nothing saves: a checkpoint has it until backward; without one it goes
/// when the program lets go of it. What is saved shows where it is made again: torch.utils.checkpoint keeps
/// an alias of it, by detach() within the operator that saves it. O(rows of the deep step + what modules take
/// x what is saved).
[[nodiscard]] std::vector<StepEdits::Change> unsavedInputs(
    const DeviceTrace& trace, const OwnedStep& step, std::span<const ForwardAgain> forwards);

} // namespace strata::model
