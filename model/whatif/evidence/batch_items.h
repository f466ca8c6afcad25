// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <optional>

namespace strata::model {

/// How many items the batch of a training has, as the shapes of its operators tell: what a step reads has the
/// bytes of inputs of operators, whose first dimension is that of the items. Nothing where there are no
/// shapes
/// (`strata record --operators`), or where they do not agree. O(blocks + text of distinct shapes).
[[nodiscard]] std::optional<std::int64_t> batchItemsOf(
    const DeviceTrace& trace, const TrainingSteps& steps, const Categories& categories);

} // namespace strata::model
