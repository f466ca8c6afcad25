// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"
#include "model/whatif/evidence/aligned_runs.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// Which blocks from before recording of two recordings of one program are the same.
struct OlderPairs {
    /// Requested bytes in the second recording, by row of the first one's older blocks. Where the recordings
    /// have not as many, what has no partner by its size or free goes in proportion.
    std::vector<std::int64_t> bytes;
    std::int64_t besides = 0; ///< bytes that the second has where the first has nothing left
    std::int64_t alone = 0; ///< bytes of either that go in proportion, or besides
};

/// By where both free them, then by equal sizes. The rest, where both have as many, by the order of sizes:
/// any pairs give the same sum of lines. O(n log n).
[[nodiscard]] OlderPairs pairOlder(
    const DeviceTrace& first, const DeviceTrace& second, const AlignedRuns& aligned);

/// The same where nothing but sizes is known, which may be in any order.
[[nodiscard]] OlderPairs pairSizes(
    const std::vector<std::int64_t>& ours, const std::vector<std::int64_t>& theirs);

} // namespace strata::model
