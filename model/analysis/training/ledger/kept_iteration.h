// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"

#include <cstdint>
#include <optional>
#include <span>

namespace strata::model {

/// Blocks of the step before that are alive while a step makes the same ones again, and that go only then.
struct KeptIteration {
    std::int64_t bytes = 0; ///< requested
    std::int64_t blocks = 0;
    Category category = Category::Unknown; ///< of most of the bytes
    StepKind kind = StepKind::Train; ///< of the step before
};

/// At one instant; `active`: the blocks that are active after it. A block of the step before
/// counts if this step makes a twin of its size and stack trace while it lives. This step must free it, too.
/// None where they are few, or where a twentieth of their bytes stays. O(blocks of a step).
[[nodiscard]] std::optional<KeptIteration> keptIteration(const DeviceTrace& trace,
    const Categories& categories, const TrainingSteps& steps, EventIndex event,
    std::span<const BlockId> active);

} // namespace strata::model
