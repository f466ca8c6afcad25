// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/run/run_replay.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// Whether the recording begins with memory from before, of which addresses and cache are known but no
/// history.
[[nodiscard]] bool beginsLate(const RecordedRun& run);

/// How the memory that late recordings begin with came to be there: their model is requested, then the
/// recorded events happen a number of times. Recordings show by how much that is off.
struct LateStart {
    int rounds = 0, copies = 1; ///< as in StartBefore
    std::vector<std::int64_t> offBytes; ///< recorded less replayed reserved peak, of each recording
    std::vector<double> offShare; ///< of the replayed one

    void add(std::int64_t recorded, std::int64_t replayed); ///< of one more recording
};

/// The first event of an optimizer, which makes its states there the first time; -1: none is known.
[[nodiscard]] EventIndex optimizerEventOf(const RecordedRun& run);

/// Those that come nearest to the recorded peaks, with the blocks that were recorded; several where they are
/// as near. One replay of each recording for each number of rounds. Fails as RunReplay does.
[[nodiscard]] Result<std::vector<LateStart>> lateStartsOf(
    const std::vector<RecordedRun>& runs, const Progress& progress = {});

} // namespace strata::model
