// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/answer/late_start.h"
#include "model/whatif/kinds/batch.h"
#include "model/whatif/run/prediction.h"

namespace strata::model {

/// How far an answer may be off. Each widens the bounds by what its evidence leaves open, drops the estimate
/// where there is a range only, and says why. docs/accuracy.md has the measured errors.

/// By recordings with other batches, or with sequences of other lengths. `isBeyond`: none has so few, or so
/// many. `start`: that of recordings that begin late; none: they do not.
void weighRecordings(
    Prediction& prediction, const BatchSizes& sizes, bool isBeyond, const LateStart* start = nullptr);
/// By what blocks are for. Where nothing but the batch is another, bounds do not lie on the other side of
/// what was recorded.
void weighRoles(
    Prediction& prediction, const Scenario& scenario, const BatchSizes& sizes, bool isLate = false);

} // namespace strata::model
