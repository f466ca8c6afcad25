// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/step_ends.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/analysis/training/steps/work_runs.h"

namespace strata::model {

/// What lies between the ends of steps of training: evaluations, forwards and copies before a forward that
/// leads to a backward are steps of their own, as are what sets the program up and what comes behind the last
/// end. The steps tile the trace; their phases are not known yet. O(events between steps + blocks).
[[nodiscard]] std::vector<TrainingStep> listSteps(
    const DeviceTrace& trace, const WorkHistory& work, const StepEnds& ends);

/// For a program that runs forwards and no backward: each of them, by what it asks for first, or all as one.
/// O(allocs).
[[nodiscard]] std::vector<TrainingStep> listForwards(const DeviceTrace& trace, const WorkHistory& work);

/// Says of each step of training whether what stays was still being made in it. O(blocks).
void markWarmup(const DeviceTrace& trace, std::vector<TrainingStep>& steps);

/// Puts phases into the steps: of the history of work, or without one of the lives of blocks.
void addPhases(
    const DeviceTrace& trace, const WorkHistory& work, bool updatesKnown, std::vector<TrainingStep>& steps);

} // namespace strata::model
