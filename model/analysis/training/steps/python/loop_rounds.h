// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"

namespace strata::model {

/// Rounds of what a program repeats, whether it trains or not: evaluation, requests, retries.
///
/// Named ranges come first: the outermost that recur at least eight times, numbers in their names aside. Else
/// the outermost loop of the program: the outermost function in which lines of allocs come again from above,
/// eight times at least. Loops within a call of a module or an optimizer, or in what makes or loads one, do
/// not count. Nor does a loop that ends long before the program, or that most allocations lie outside of.
///
///     serve.py:31  main              <- here lines come again: 12, 14, 19, 12, 14, 19, ...
///     serve.py:14  answer            generate:88  generate:88 ...     loops within a round
///
/// Steps of kind Loop, with a Setup before them and Incomplete behind: the end of the last round of a loop is
/// not known. Empty where nothing recurs. O(allocs + annotations log annotations + frames of stacks).
[[nodiscard]] TrainingSteps findRounds(const DeviceTrace& trace, const Clock& clock);

} // namespace strata::model
