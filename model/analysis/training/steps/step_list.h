// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/step_ends.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/analysis/training/steps/work_runs.h"

namespace strata::model {

/// The phase that work belongs to.
[[nodiscard]] Phase phaseOf(RunKind work);

/// What lies between the ends of steps of training: evaluations, forwards and copies before a forward that
/// leads to a backward are steps of their own, as are what sets the program up and what comes behind the last
/// end. The steps tile the trace; their phases are not known yet. O(events between steps + blocks).
[[nodiscard]] std::vector<TrainingStep> listSteps(
    const DeviceTrace& trace, const WorkHistory& work, const StepEnds& ends);

struct ForwardSteps {
    std::vector<TrainingStep> steps;
    bool areShown = false; ///< stacks show where one ends and the next begins
};
/// For a program that runs forwards and no backward: each round of the innermost loop that encloses one whole
/// call of the root module, as root_forwards.h finds them. Without such stacks each of what recurs by its
/// first request, or all as one. O(allocs log allocs).
[[nodiscard]] ForwardSteps listForwards(const DeviceTrace& trace, const WorkHistory& work);

/// Says of each step of training whether what stays was still being made in it. O(blocks).
void markWarmup(const DeviceTrace& trace, std::vector<TrainingStep>& steps);

/// Puts phases into the steps: of the history of work, or without one of the lives of blocks.
void addPhases(
    const DeviceTrace& trace, const WorkHistory& work, bool updatesKnown, std::vector<TrainingStep>& steps);

} // namespace strata::model
