// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/run/run_edits.h"

#include <cstdint>
#include <optional>
#include <set>

namespace strata::model {

/// A run without the checkpoints (torch.utils.checkpoint) that a deep step shows: modules whose forward runs
/// a second time within backward. What backward makes again is not made, and what of that it keeps for itself
/// is kept from the first time on:
///
///     recorded     forward [a b]      backward [a' b', uses b', a']
///     rewritten    forward [a b       backward  uses b, a]
///
/// Refused, by name: no deep step, or one that is not to be used; no such modules; what runs a second time is
/// more than modules. O(rows of the deep step + events).
[[nodiscard]] Result<RunEdits> withoutCheckpoints(const DeviceTrace& trace, const TrainingSteps& steps);

/// Paths of the modules whose forward runs that second time, of those in each other the outermost. Empty
/// where there is no deep step to be used. O(rows of the deep step + events).
[[nodiscard]] std::set<StringId> modulesMadeAgain(const DeviceTrace& trace);

/// How long the kernels run that those checkpoints launch a second time in a step, in nanoseconds. None:
/// there is no deep step to be used, or no kernels were recorded.
[[nodiscard]] std::optional<std::int64_t> recordedRecomputeNs(const DeviceTrace& trace);

} // namespace strata::model
