// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/answer/predict.h"
#include "model/whatif/kinds/batch.h"

#include <optional>

namespace strata::model {

/// How far an answer may be off. Each widens the bounds by what its evidence leaves open, drops the estimate
/// where there is a range only, and says why. docs/accuracy.md has the measured errors.

/// By recordings with other batches, or with sequences of other lengths. `isBeyond`: none has so few, or so
/// many. `lateShare`: they begin with memory from before, and the reserved peak may be off by that share;
/// none: they do not.
void weighRecordings(Prediction& prediction, const BatchSizes& sizes, bool isBeyond,
    std::optional<double> lateShare = std::nullopt);
/// By what blocks are for. Where nothing but the batch is another, bounds do not lie on the other side of
/// what was recorded.
void weighRoles(
    Prediction& prediction, const Scenario& scenario, const BatchSizes& sizes, bool isLate = false);

} // namespace strata::model
