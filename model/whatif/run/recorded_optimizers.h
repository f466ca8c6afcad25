// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/optimizer_run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::model {

/// An optimizer of a recorded program, as roles told of it.
struct RecordedOptimizer {
    struct Step {
        /// Its events are [begin, end). Where it asks for nothing they are the same.
        EventIndex begin = 0, end = 0;
        std::vector<std::uint32_t> having; ///< of `parameters`, those that had a gradient
    };

    std::uint32_t number = 0; ///< RoleListing::optimizer
    std::string name; ///< of its class: "AdamW"
    std::vector<OptimizerParameter> parameters; ///< in its order
    std::vector<StringId> names; ///< of those
    std::vector<Step> steps;
    EventIndex made = 0; ///< the event before which it was made, as near as anything tells
    EventIndex gone = -1; ///< the event before which it was let go of; -1: never
    EventIndex like = -1; ///< the alloc of one of its parameters
};

struct RecordedOptimizers {
    std::vector<RecordedOptimizer> all; ///< those that made a step, by their numbers
    /// By row of the blocks of the trace, the number in `all` of the optimizer that asked for it in a step,
    /// or whose state it is; kNone: of none.
    std::vector<std::uint32_t> owners;
    static constexpr std::uint32_t kNone = 0xffffffffu;
};

/// Who stepped, when, over what. Needs steps and categories. Refused, saying why: roles do not tell of
/// parameters; optimizers that step within backward or call the program; sharded, sparse and complex
/// parameters. O(events + listings log listings).
[[nodiscard]] Result<RecordedOptimizers> recordedOptimizers(const RecordedRun& run);

/// What to do where no parameters are told: programs in C++ tell them themselves. O(frames).
[[nodiscard]] Sentence hintToTellParameters(const Recording& recording);

} // namespace strata::model
