// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/whatif/run/optimizer_run.h"
#include "model/whatif/run/recorded_optimizers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// What an optimizer did, or would do: when it was made, and in each of its steps.
using OptimizerParts = std::vector<std::vector<OptimizerEvent>>;

/// What was recorded of it: blocks numbered in the order of their allocs. O(events).
[[nodiscard]] std::vector<OptimizerParts> recordedParts(
    const DeviceTrace& trace, const RecordedOptimizers& recorded);

/// What one over its parameters does by a template; none where that does not tell.
[[nodiscard]] std::optional<OptimizerParts> partsOf(const OptimizerTemplate& made,
    const RecordedOptimizer& optimizer, const std::vector<std::uint32_t>& groups, std::int64_t least);

/// In which manner of its class a recorded optimizer works.
struct OptimizerMatch {
    std::vector<std::uint32_t> groups; ///< the first parameter of each group
    bool known = false; ///< a template of its class leads to all that it did
    const OptimizerTemplate* made = nullptr; ///< the first such one, of the catalogue
    std::int64_t least = 0; ///< with which it does: elements of a large parameter
    bool groupsShow = false; ///< with other groups it would not
    bool decays = false; ///< it was given a weight decay, for sure
};
[[nodiscard]] OptimizerMatch matchOptimizer(const RecordedOptimizer& optimizer, const OptimizerParts& did);

} // namespace strata::model
