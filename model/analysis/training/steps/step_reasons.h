// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/sentence.h"
#include "model/trace/stack_fields.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// Allocations of a step in one phase, with the frame by which most of their stacks show it.
struct StepFrame {
    Phase phase = Phase::Unknown;
    std::int64_t allocations = 0; ///< whose stacks show the phase
    FrameIn frame;
};

/// Why a step is what it is called.
struct StepReason {
    Sentence rule;
    std::vector<StepFrame> frames; ///< by phase; empty where no stack decides
};

/// The rule by which a step has its kind and its ends. O(1).
[[nodiscard]] Sentence ruleOf(const TrainingSteps& steps, const TrainingStep& step);

/// Of each step, in order; points into the recording. O(events + frames of distinct stacks).
[[nodiscard]] std::vector<StepReason> reasonsOf(const DeviceTrace& trace, const TrainingSteps& steps);

} // namespace strata::model
