// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/ranks/rank_work.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// The ranks of a run on one axis of time, as the trace of one program: processes are numbered anew, names
/// tell ranks, and a device has the number of its rank where each rank has one at most. Steps are those of
/// the first rank; those of others are annotations that name their rank.
struct MergedRanks {
    Work work; ///< on the clock of the first rank
    StringTable strings;
    std::vector<std::int64_t>
        unplaced; ///< ranks whose clock no collective tells: as it stands in their trace
    std::int64_t laterNs = 0; ///< than the first rank's own times; 0, unless that would begin before 0

    /// A range of the first rank's trace, here.
    [[nodiscard]] std::optional<TimeSpan> rangeOf(std::optional<TimeSpan> range) const
    {
        if (range)
            range = TimeSpan{ range->beginNs + laterNs, range->endNs + laterNs };
        return range;
    }
};

/// `ranks` is what rankWorkOf() made of the traces. Any thread; O(rows).
[[nodiscard]] MergedRanks mergeRanks(std::span<const RankTrace> traces, const RankWork& ranks);

} // namespace strata::model
