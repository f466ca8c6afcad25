// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/module_choice.h"
#include "model/whatif/run/step_edits.h"
#include "model/analysis/training/deep/step_owners.h"

#include <vector>

namespace strata::model {

/// A step whose owners nobody saw.
struct GuessedStep {
    StepStretch stretch;
    StepOwners
        owners; ///< `windows`: calls of the outermost modules that a choice matches, without their names
    bool isClear = true; ///< each of them is called once before a backward
};

/// Who has the blocks of a step of which no deep step tells, by the modules in whose forward and backward its
/// blocks are asked for, by its phases and by its order:
///
///     forward   h.0: a  b  y   h.1: ...      a block that goes in backward was saved by whoever asked next,
///     backward  ... h.1: g  h.0: g -b g -a   and the program let go of it behind what that asked for
///
/// Backward takes it out where the module that saved it begins with its gradients. Which call
/// of a module keeps what is not clear where it is called more than once before a backward.
///
/// The step is one of the training behind its warm-up, else the last whole one. Refused, by name: a recording
/// without optimizers' steps, or without modules; no such modules. O(events of the step log events +
/// modules + listings).
[[nodiscard]] Result<GuessedStep> guessStepOwners(
    const DeviceTrace& trace, const TrainingSteps& steps, const std::vector<ModuleChoice>& choices);

} // namespace strata::model
