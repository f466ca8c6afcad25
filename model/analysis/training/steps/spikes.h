// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/training_steps.h"
#include "model/base/progress.h"
#include "model/trace/device_trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::model {

/// Short-lived memory that makes the peak: the blocks of one site that are alive at the peak and gone soon.
struct Spike {
    StackId site; ///< the stack that asked; none: the blocks have none, and are alike in size
    std::int64_t size = 0; ///< of each, where they have no stack
    std::int64_t bytes = 0; ///< requested at the peak
    std::int64_t blocks = 0; ///< likewise
    BlockId largest; ///< of these
    EventIndex longestLife = 0; ///< of these, in events
    std::int64_t peakWithoutBytes = 0; ///< what the peak would be if the site never asked
    EventIndex peakWithoutEvent = -1; ///< where it would be

    friend bool operator==(const Spike&, const Spike&) = default;
};

/// The line that asked: "train.py:57"; kNoStackLabel.
[[nodiscard]] std::string lineOf(const Recording& recording, const Spike& spike);

/// Sites whose blocks at the peak live no longer than a step, or a twentieth of the trace where steps are not
/// known, ranked by what the peak would be without them: exactly, by taking every block of the site out of
/// the curve of requested bytes.
///
/// At most `most`: those with the most bytes at the peak are tried. One pass over the events for all: at the
/// tops of the curve alone, and only where it is higher than any of them could make it.
/// O(events + tops x most). Any thread; once cancelled, what it returns means nothing.
[[nodiscard]] std::vector<Spike> findSpikes(const DeviceTrace& trace, const TrainingSteps& steps,
    const Progress& progress = {}, std::size_t most = 10);

} // namespace strata::model
