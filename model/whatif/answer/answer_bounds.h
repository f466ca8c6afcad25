// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/answer/predict.h"
#include "model/whatif/kinds/batch.h"

#include <cstdint>

namespace strata::model {

/// When recordings begin, and what explains the memory that was cached before.
enum class Began : std::uint8_t {
    WithProgram, ///< nothing is from before
    Late, ///< the recorded work does
    LateWithSegments, ///< nothing: the segments are taken as they were
};

/// How far an answer may be off. Each widens the bounds by what its evidence leaves open, drops the estimate
/// where there is a range only, and says why. docs/accuracy.md has the measured errors.

/// By recordings with other batches, or with sequences of other lengths. `isBeyond`: none has so few, or so
/// many.
void weighRecordings(Prediction& prediction, const BatchSizes& sizes, bool isBeyond, Began began);
/// By what blocks are for. Where nothing but the batch is another, bounds do not lie on the other side of
/// what was recorded.
void weighRoles(
    Prediction& prediction, const Scenario& scenario, const BatchSizes& sizes, bool isLate = false);

} // namespace strata::model
