// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/answer/predict.h"

#include <cstdint>
#include <optional>
#include <span>

namespace strata::model {

/// A recording that a prediction was written as is as far off as the prediction was. Any thread. O(1).

/// Tells so in that recording, which is of the prediction's likeliest run: in its facts, and for people in
/// its format.
void tellBounds(Recording& recording, const Prediction& prediction);

/// Widens an answer by what recordings that it is made of tell so: by the same shares of its bounds, the
/// widest of them, and with no point where one had none. Nothing where all are of runs, or of predictions that
/// were exact. Bounds that are none, as a higher one below the lower one, widen nothing. O(runs + bytes of the
/// facts).
void weighTold(Prediction& prediction, std::span<const RecordedRun> runs);

} // namespace strata::model
