// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/analysis/training/steps/updates.h"

#include <span>

namespace strata::model {

/// Phases of steps of training from sizes and lives alone; a step that does not tell keeps those that it has.
/// Of the blocks that a step asks for and gives back, forward makes those that backward takes away, so that
/// most of them are there where the one ends and the other begins:
///
///     blocks   |   /\            |    in use at once, of this step
///              |  /  \           |
///              | /    \________  |
///     ordinal  forward| backward | optimizer
///
/// Gradients, which stay until the end of the step, do not count. What comes before the first block that is
/// there at the top is left Unknown: a model is made there, a batch is drawn. O(blocks).
/// Where updates of optimizers are known, in the order of their ends, backwards end where those begin.
void guessPhases(const DeviceTrace& trace, std::span<const Update> updates, std::vector<TrainingStep>& steps);

} // namespace strata::model
