// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// What another step of a training, or the same, has of what one step does.
struct AlignedStep {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::uint32_t firstBlock = 0; ///< row of the first block that the one step allocates
    std::vector<std::uint32_t> blocks; ///< by rows of the one step's from there on: the row here; kNone
    EventIndex firstEvent = 0; ///< of the one step
    std::vector<EventIndex> places; ///< by its events, and its end: the event here before which that stands
    std::int64_t alone = 0; ///< blocks of the one step that this one has not
    std::vector<EventIndex> strays; ///< births of blocks here, but for the optimizer's, that it has not
    bool isWhole = true; ///< else it has not come to its end

    /// Blocks of before are the same ones in each step.
    [[nodiscard]] std::uint32_t blockOf(std::uint32_t row) const
    {
        return row < firstBlock ? row : row - firstBlock < blocks.size() ? blocks[row - firstBlock] : kNone;
    }
    [[nodiscard]] EventIndex placeOf(EventIndex event) const
    {
        return places[static_cast<std::size_t>(event - firstEvent)];
    }
};

/// Each step of the optimizer one of whose steps lasts from `begin` to `end` events, that one included, and
/// what comes behind the last one; empty where no optimizer has told of such a step. Events are aligned
/// within phases, from the last one back to where steps have others; by their sizes where they do not ask for
/// as much in the same order. O(events), and O(events x differences) of what differs.
[[nodiscard]] std::vector<AlignedStep> alignSteps(
    const DeviceTrace& trace, const TrainingSteps& steps, EventIndex begin, EventIndex end);

} // namespace strata::model
