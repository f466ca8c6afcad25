// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/ranks/sharding.h"
#include "model/whatif/run/recorded_optimizers.h"
#include "model/whatif/run/run_edits.h"

namespace strata::model {

/// A training whose model is in DistributedDataParallel, as one rank has it:
///
///     made      parameters and buffers flat, in 250 MiB, to be sent; one bucket of all gradients of a type
///     2nd forward that is trained    that goes, and there are buckets in the order in which gradients came;
///                                    where they are views and some are there, it goes behind these
///     views     a gradient goes into its bucket when it is there, and is a part of it from then on
///
/// as of PyTorch 2.15: torch/csrc/distributed/c10d/reducer.cpp, compute_bucket_assignment_by_size(), and
/// torch/nn/parallel/distributed.py. Buckets hold the parameters of all optimizers. Refused, by name: views
/// without a deep step that is to be used, which tells when gradients are there. O(events).
[[nodiscard]] Result<RunEdits> dataParallelEdits(
    const RecordedRun& run, const RecordedOptimizers& optimizers, const Sharding& sharding);

} // namespace strata::model
