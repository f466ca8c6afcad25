// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/whatif/step_edits.h"

#include <span>
#include <vector>

namespace strata::model {

/// The forward of a checkpointed module, and the one that backward makes again.
struct ForwardAgain {
    const StepOwners::Window *first = nullptr, *again = nullptr;
};

/// What becomes of what checkpointed modules take where there are no checkpoints: a checkpoint has it until
/// backward, a module alone as long as an operator that works with it saves it
/// (tools/autograd/derivatives.yaml of PyTorch says which do). Of what backward computes again is seen which
/// operators work with it, and not what they save.
struct CheckpointInputs {
    std::vector<StepEdits::Change> gone; ///< blocks that nothing saves: they go when the program lets go
    /// Blocks that modules work with as a copy, as under autocast, and of which it is not known whether
    /// anything saves them: they may go then, too.
    std::vector<StepEdits::Change> doubtful;
};

/// O(rows of the deep step + what modules take x what is saved).
[[nodiscard]] CheckpointInputs checkpointInputs(
    const DeviceTrace& trace, const OwnedStep& step, std::span<const ForwardAgain> forwards);

} // namespace strata::model
