// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/digest/digest.h"
#include "model/timeline/device_timeline.h"
#include "model/trace/filter/filter.h"
#include "model/trace/filter/grouping.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

struct GroupSum {
    std::uint32_t group = 0; ///< of the GroupTable
    std::int64_t bytes = 0; ///< requested
    std::int64_t blocks = 0;
};

/// What is active after one event, put together. Groups add up to the total, always: largest first, then by
/// label.
struct LiveGroups {
    EventIndex event = -1;
    std::int64_t requestedBytes = 0;
    std::int64_t blocks = 0;
    std::int64_t beforeTraceBytes = 0; ///< the part of requestedBytes that is older than the trace
    std::vector<GroupSum> groups;
};

/// Puts `active`, the blocks active after `event`, together. O(active).
[[nodiscard]] LiveGroups groupBlocks(const DeviceTrace& trace, std::span<const BlockId> active,
    const GroupTable& table, EventIndex event, const BlockMatcher* filter = nullptr);

/// The same from sums by stack. `beforeTraceBytes` is left for the caller.
[[nodiscard]] LiveGroups groupStacks(
    std::span<const StackSum> sums, const GroupTable& table, EventIndex event);

/// groupBlocks() of what is active after `event`: from the live index, or from one pass over all blocks.
[[nodiscard]] LiveGroups groupsAt(const DeviceTimeline& timeline, const GroupTable& table, EventIndex event,
    const BlockMatcher* filter = nullptr);
[[nodiscard]] LiveGroups groupsAt(const DeviceTrace& trace, const GroupTable& table, EventIndex event,
    const BlockMatcher* filter = nullptr);

} // namespace strata::model
