// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/trace/findings.h"
#include "model/trace/recording.h"

#include <cstdint>
#include <vector>

namespace strata::model {

/// The life of one segment, or of one mapped piece of an expandable one. A piece of which a part is unmapped
/// falls into several lives with the same `alloc`.
struct SegmentLife {
    std::uint64_t address = 0;
    std::int64_t bytes = 0;
    EventId alloc; ///< segment_alloc or segment_map; none: older than the trace
    EventId free; ///< segment_free or segment_unmap; none: there at the end
    StackId stack;
    StreamIndex stream = kNoIndex;
    PoolIndex pool = kNoIndex; ///< of the final segment that holds it, else by its event
    bool expandable = false;

    [[nodiscard]] std::uint64_t end() const { return address + static_cast<std::uint64_t>(bytes); }
    [[nodiscard]] bool liveAt(EventIndex e) const
    {
        return (!alloc.valid() || static_cast<EventIndex>(alloc.value) <= e)
            && (!free.valid() || e < static_cast<EventIndex>(free.value));
    }
};

/// The lives of all segments of a device, by address, then birth. With `endKnown` false the final segments
/// tell the pools, not what is live, and the base state, if there is one, what was mapped at the start. May add pools to the recording. O(n log n) in events on segments and
/// final segments.
///
/// Pool of a life that ended before the snapshot: 2 MiB or less is small, more is large, of the pool_id that
/// its event has, else of the default pool.
[[nodiscard]] std::vector<SegmentLife> buildSegmentLives(
    Recording& recording, const DeviceRecording& device, bool endKnown, FindingList& findings);

} // namespace strata::model
