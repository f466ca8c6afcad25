// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/change.h"
#include "model/whatif/ask/module_choice.h"
#include "model/whatif/run/prediction.h"
#include "model/whatif/run/run_edits.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// Which modules changes have checkpointed.
struct CheckpointChoices {
    explicit CheckpointChoices(std::span<const Change> changes);

    std::vector<ModuleChoice> choices;
    bool takesAway = false; ///< the checkpoints that there are
};

[[nodiscard]] Change checkpointed(const std::string& modules); ///< checkpoint=MODULES: a class, "path:GLOB"

/// A run in which torch.utils.checkpoint (use_reentrant=False) is around each call, in training, of the
/// outermost modules that a choice matches, as a deep step tells it, or without one as guessStepOwners()
/// does:
///
///     recorded     forward [region: a b c]   backward [uses c, b, a]
///     rewritten    forward [region: a b c]   backward [a' b' c', uses c', b', a']
///
/// What a region saves goes when the program lets go of it; what it takes stays until its last node has been
/// released; before backward takes out the first of what it saved, its forward runs again up to what it saved
/// last (PyTorch's early stop). All steps of the training do as the deep one does, aligned event by event.
///
/// Refused, by name: no deep step, or one that is not to be used, and modules by their class; no such
/// modules, or nothing that they save; steps that do other things than that one; as guessStepOwners(). O(rows
/// of the deep step + events).
[[nodiscard]] Result<RunEdits> checkpointEdits(
    const DeviceTrace& trace, const TrainingSteps& steps, const std::vector<ModuleChoice>& choices);

/// How long the kernels run that such a run launches once more in a step, in nanoseconds. None: refused as
/// above, or no kernels were recorded.
[[nodiscard]] std::optional<std::int64_t> recomputeNs(
    const DeviceTrace& trace, const std::vector<ModuleChoice>& choices);

/// Widens an answer by what such edits leave open. `hasSettings`: the allocator has others than recorded.
void weighCheckpoints(Prediction& prediction, const RunEdits& edits, bool hasSettings);

} // namespace strata::model
