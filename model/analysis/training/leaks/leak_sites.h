// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leaks/leak_shape.h"
#include "model/analysis/training/steps/training_steps.h"
#include "model/replay/allocator_settings.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// The ends of steps of one kind: of trainings, or where there are too few, of evaluations, forwards or
/// rounds of a loop.
struct LeakBoundaries {
    StepKind kind = StepKind::Train;
    std::vector<EventIndex> events;
    std::vector<const TrainingStep*> steps;
    std::uint32_t warmup = 0; ///< the first that are not compared

    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(events.size()); }
    [[nodiscard]] std::uint32_t steady() const { return count() - warmup; }
    /// The first boundary at or behind an event; count() behind the last.
    [[nodiscard]] std::uint32_t from(EventIndex e) const;
};
[[nodiscard]] LeakBoundaries leakBoundaries(const TrainingSteps& steps);

/// The blocks that outlived the step of their birth, put together by site, and the shapes of those.
struct StayingSite {
    StackId stack; ///< the commonest; none: not recorded
    std::vector<BlockId> blocks; ///< in the order of birth
    std::vector<BlockStay> stays; ///< of these
    LeakShape shape;
};

/// Sites by whole stack, or size and stream; what those leave open once more by line, or by place in the
/// step; and of blocks without stacks, by stream. In the order of their first blocks.
[[nodiscard]] Result<std::vector<StayingSite>> stayingSites(const DeviceTrace& trace,
    const TrainingSteps& steps, const LeakBoundaries& boundaries, const AllocatorSettings& settings,
    const Progress& progress);

/// The place of a block among the allocations of its step, from 0. O(log n).
[[nodiscard]] std::int64_t ordinalInStep(const DeviceTrace& trace, const TrainingSteps& steps, BlockId block);

} // namespace strata::model
