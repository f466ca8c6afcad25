// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/run_start.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// Whether the recording begins with memory from before, of which addresses and cache are known but no
/// history.
[[nodiscard]] bool beginsLate(const RecordedRun& run);

/// How the memory that late recordings begin with may have come to be there, and by how much the reserved
/// peak of each recording is off where it is replayed so. A value.
struct LateStart {
    StartHistory history = {};
    std::vector<std::int64_t> offBytes = {}; ///< recorded less replayed reserved peak, of each recording
    std::vector<double> offShare = {}; ///< of the replayed one

    void add(std::int64_t recordedBytes, std::int64_t replayedBytes); ///< of one more recording
    [[nodiscard]] std::int64_t mostOffBytes() const; ///< regardless of sign; so is that below
    [[nodiscard]] double mostOffShare() const;
};

/// That start of a recording, with the sizes that were recorded. O(steps).
[[nodiscard]] StartBefore startOf(const RecordedRun& run, const StartHistory& history);

/// The histories that come nearest to the recorded peaks, with the sizes that were recorded; several where
/// they are as near. One replay of each recording for each of up to six histories: set RecordedRun::order
/// before. Fails as RunReplay does. Any thread.
[[nodiscard]] Result<std::vector<LateStart>> lateStartsOf(
    const std::vector<RecordedRun>& runs, const Progress& progress = {});

} // namespace strata::model
