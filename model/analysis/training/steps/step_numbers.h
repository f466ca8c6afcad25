// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"

namespace strata::model {

/// Gives steps the numbers by which the program named them ("step 3", "ProfilerStep#3"), if it named each once
/// and in order. Steps of the same kinds next to named ones count on; others get numbers below 0. O(annotations
/// log annotations + steps).
void numberAsNamed(const DeviceTrace& trace, const Clock& clock, TrainingSteps& steps);

} // namespace strata::model
