// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// Which block of one recording is which of another of the same program.
struct AlignedRuns {
    static constexpr std::uint32_t kNone = UINT32_MAX;

    std::vector<std::uint32_t> other; ///< by row of the first one's blocks: that of the other; kNone
    /// The same of blocks from before recording: both recordings free them at the same place.
    std::vector<std::uint32_t> older;
    std::int64_t alone = 0; ///< blocks of either that the other has not
    bool equal = false; ///< both asked for and gave back the same, in the same order
};

/// Event by event: requests and frees in their order, on their streams, whatever their sizes. Where the lists
/// of events differ, phases of steps are aligned with each other (where both have the same), and within each
/// the longest common part of events, with few differences (else none of that phase), by where in the program
/// they are asked for unless that tells the two apart. O(events), and
/// O(events x differences) of phases that differ.
[[nodiscard]] AlignedRuns alignRuns(const DeviceTrace& first, const TrainingSteps& firstSteps,
    const DeviceTrace& second, const TrainingSteps& secondSteps);

} // namespace strata::model
