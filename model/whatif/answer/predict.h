// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/reason.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/sizes.h"
#include "model/whatif/run/prediction.h"

#include <vector>

namespace strata::model {

/// Of recordings of one device, those that an answer is made of: settings alone take the first.
[[nodiscard]] std::vector<RecordedRun> takingPart(
    const std::vector<RecordedRun>& runs, const Scenario& scenario);

/// What the first of `runs` comes to with the scenario: its blocks are rewritten, and PyTorch's allocator is
/// replayed over them. More runs are of the same program with other batches, or with
/// sequences of other lengths. Fails with Refused (nothing
/// supports an answer; what to do), Usage (settings, batches or lengths that are missing), Cancelled. Any
/// thread; a replay each for the answer and its bounds, O(events log blocks).
[[nodiscard]] Result<Prediction> predict(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress = {});

} // namespace strata::model
