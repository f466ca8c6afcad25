// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/caching_allocator.h"
#include "model/trace/device_trace.h"
#include "model/trace/program/allocator_calls.h"

#include <cstddef>
#include <map>
#include <set>

namespace strata::model {

/// What a program asked of its allocator besides memory, played into a replay of it: settings that change,
/// memory fractions, private pools and captures that begin and end, empty_cache(). A value, to be copied with
/// the allocator; the trace must outlive it.
class RecordedCalls {
public:
    explicit RecordedCalls(const DeviceTrace& trace);
    /// `calls`: those of a run that was rewritten from the recording. Both must outlive it.
    RecordedCalls(const Recording& recording, const AllocatorCalls::Calls& calls);

    /// The recorder saw all of them: what is not here was not called.
    [[nodiscard]] bool areComplete() const { return m_complete; }
    /// A call stands before event `at` that was not played.
    [[nodiscard]] bool waitsAt(EventIndex at) const
    {
        return m_next < m_calls->size() && (*m_calls)[m_next].event <= at;
    }
    /// Plays the next one. The calls of the driver that it leads to are those of the allocator.
    void playNext(CachingAllocator& allocator, bool emptyCaches = true);

private:
    const Recording* m_recording;
    const AllocatorCalls::Calls* m_calls;
    std::size_t m_next = 0;
    bool m_complete = false;
    int m_open = 0; // what counts as capture: by the version, pools that are begun, or captures
    std::map<PoolOwner, int> m_users; // of private pools
};

/// Private pools that nobody uses any more after an event, by the calls of a recording: empty_cache() gives
/// their free segments back. Empty where the recording does not show such calls. O(calls).
[[nodiscard]] std::set<PoolOwner> releasedPools(const DeviceTrace& trace, EventIndex event);

} // namespace strata::model
