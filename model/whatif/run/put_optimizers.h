// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/trace/strings.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

struct OptimizerEvent;
struct RecordedOptimizer;

/// Optimizers that a run has in the place of recorded ones: what a recording of that run would tell of them
/// beside what the allocator sees.
struct PutOptimizers {
    /// A tensor of a state. States are made in the first step, or before, and stay.
    struct State {
        std::uint32_t block = 0; ///< of the run
        StringId parameter; ///< its name; none: it is not known
        std::string part; ///< "exp_avg"
        std::string type; ///< "float32"
        std::int64_t elements = 0;
        EventIndex told = 0; ///< before which recorded event the program told of it
    };
    /// Recorded events [begin, end) of a step: what is put stands before the first of them.
    struct Step {
        EventIndex begin = 0, end = 0;
        EventIndex like = -1; ///< the first alloc that the recorded optimizer made there; -1: it made none
    };
    struct Optimizer {
        std::uint32_t number = 0; ///< RoleListing::optimizer
        std::string recorded, name; ///< classes: "AdamW", "AdamW8bit"
        std::vector<Step> steps;
        std::vector<State> states; ///< in the order in which they are made
        EventIndex like = -1; ///< an alloc in one of its steps, as recorded; -1: there is none
        EventIndex parameterLike = -1; ///< the alloc of one of its parameters; -1: it is not known
    };

    std::vector<Optimizer> all;
    std::uint32_t firstBlock = 0; ///< of the run: from here on blocks are those of optimizers
    std::vector<std::uint32_t> owners; ///< of these blocks, the row in `all`
};

/// What stays of that which an optimizer of the class `name` asks for: its states, where `block` counts from
/// 0 in the order of its allocs. `optimizer` has the parameters that the events are of.
[[nodiscard]] std::vector<PutOptimizers::State> statesAmong(const std::vector<OptimizerEvent>& events,
    std::string_view name, const RecordedOptimizer& optimizer, const StringTable& strings);

/// "Optimizer.step#AdamW8bit.step" of "Optimizer.step#AdamW.step": as the range of an optimizer, or of what
/// is done with it, is called in a run with those.
[[nodiscard]] std::string rangeName(const PutOptimizers& put, std::string_view recorded);

} // namespace strata::model
