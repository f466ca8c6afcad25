// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/result.h"
#include "model/trace/device_trace.h"
#include "model/whatif/ask/offload_choice.h"
#include "model/whatif/run/run_edits.h"

#include <vector>

namespace strata::model {

/// A run in which torch.autograd.graph.save_on_cpu(pin_memory=True) is around forward and loss, or around the
/// forwards of chosen modules, as a deep step tells it:
///
///     recorded     saved #3   |=================U===u==R      U unpacked, u nobody has that any more
///     rewritten    its block  |==|  the program lets go       R released
///                  a new one                    |===|         of the tensor's own size, for each U
///
/// All that autograd saves is copied to the host, parameters too; what lies with gaps (is_contiguous() is
/// false) by way of another block that is gone right away. Around forward and loss: from a call of an
/// outermost module of the thread that steps until backward takes out something. Source:
/// torch/autograd/graph.py, aten/src/ATen/native/cuda/Copy.cu.
///
/// Refused, by name: no deep step, or one that is not to be used; one that does not tell how large the saved
/// tensors are, as of an earlier Strata; backward that saves for another one; no such modules, or nothing
/// that they save; steps that do other things than that one. O(rows of the deep step + events).
[[nodiscard]] Result<RunEdits> offloadEdits(
    const DeviceTrace& trace, const TrainingSteps& steps, const std::vector<OffloadChoice>& choices);

} // namespace strata::model
