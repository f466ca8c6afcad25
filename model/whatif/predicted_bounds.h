// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/predict.h"

namespace strata::model {

/// A recording that a prediction was written as is as far off as the prediction was. Any thread. O(1).

/// Tells so in that recording, which is of the prediction's likeliest run.
void tellBounds(Recording& recording, const Prediction& prediction);

/// Widens an answer by what such a recording among those that it is made of tells: by the same shares of its
/// bounds, and with no point where it had none. Other recordings change nothing, nor does what cannot be, as
/// bounds that do not lie about its own peaks. O(runs).
void weighTold(Prediction& prediction, const std::vector<RecordedRun>& runs);

} // namespace strata::model
