// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/step_ends.h"
#include "model/analysis/training/steps/work_runs.h"
#include "model/base/progress.h"

#include <cstdint>
#include <vector>

namespace strata::model {

// What sizes and lives of blocks alone tell of a training. Bytes that come and go within a step rise in a
// forward, whose graph keeps them, and fall in its backward:
//
//     bytes  .  ^  . . ^  .        the highest: a backward begins
//            . / | . ^^^ / | .
//            ./  |_.^^^^_/  |_.     the lowest: valleys, between steps and between backwards of one
//             step  eval  step
//
// An evaluation, which keeps no graph, rises less.

/// Where local bytes are least between two rises, by the number of the alloc behind it.
struct Valley {
    std::size_t alloc = 0;
    std::int64_t bytes = 0;
};

/// Falls below a share of the highest value before it, then rises above as much of what it fell to: the last
/// of equal values in between. With `tail` one at the end that nothing rises behind. O(values).
[[nodiscard]] std::vector<Valley> valleysOf(const std::vector<std::int64_t>& curve, bool tail);

/// Ends of steps where nothing but lives tells: of the valleys those that are low and whose surroundings
/// recur; of low ones among them that recur each so many, those alone (accumulation). A guess: right in
/// plain loops, mostly. O(blocks log blocks). Cancelled, any of them.
[[nodiscard]] StepEnds endsOfRhythm(const DeviceTrace& trace, const Progress& progress = {});

/// Forwards and backwards in steps that are known, by where local bytes turn. O(blocks).
[[nodiscard]] WorkHistory workFromLives(const DeviceTrace& trace, const StepEnds& ends);

} // namespace strata::model
