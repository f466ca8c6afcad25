// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/hook/torch_hook.h"

namespace strata::dryrun {

// What a step launches, for an estimate of how long it takes at least: operators with their inputs, seen
// through the hook of this LibTorch (hook::Hook::watchOperators), and collectives, as the simulated device
// tells of them. Kept in a file beside the peaks, "work.PROCESS.IMAGE", one JSON object:
//   "version": 1, "process",
//   "step": which one, as observed_steps.h numbers them; null: all that the program did,
//   "steps": begun in all, "step_ns": on this machine, of those that were not observed, null without any,
//   "steps_timed": of how many that is the median; "problem": why nothing is known, null where it is;
//   "launches", "operators", "collectives" as operator_counts.h has them.
// Nothing of this happens unless kTimeVariable is 1.

/// Once, when peaks are followed: from now on what the program launches is seen. `image`: of the process that
/// replaced itself by exec(), as the name of the peaks has it.
void followWork(int image) noexcept;

/// A step begins: how many have by now. Any thread; microseconds, or, where a step ends that was observed,
/// the time to write the file.
void workOfStepBegins(int steps) noexcept;

/// The program was ended for having made its steps: the last of them is over.
void workOfStepsEnds() noexcept;

/// An operator of which a step may be told ran (operator_watch.h). Any thread.
void operatorRan(const hook::Operator& ran) noexcept;

/// The process ends: what is known is written.
void keepWork() noexcept;

} // namespace strata::dryrun
