// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace strata::model {

/// What a program without some of its lines does not ask for (remove=). The rest of it is taken
/// to ask for the same.
struct RemovedBlocks {
    std::vector<std::uint32_t> rows; ///< of blocks that were born in the trace
    /// Likewise, but nothing tells: without a stack; of a library, which asks for it where it is needed
    /// first; or of a backward, and as large as one that a forward made there.
    std::vector<std::uint32_t> doubtful;
    bool mayBeOfBackward = false; ///< some of these are of a backward
    std::vector<EventIndex> refused; ///< requests that are not made, ascending
    std::int64_t bytes = 0; ///< of `rows`, all that were asked for
    /// Of blocks older than the trace, which stand as they were recorded though they may be of those lines.
    std::int64_t olderBytes = 0;
    std::int64_t unknownBytes = 0; ///< that, and the most that doubtful ones had at a time

    /// Without all of these lines, functions, files, each a filter. Fails as blocksOfSite(). O(events +
    /// blocks + frames).
    [[nodiscard]] static Result<RemovedBlocks> of(
        const RecordedRun& run, const std::vector<std::string>& sites);
};

} // namespace strata::model
