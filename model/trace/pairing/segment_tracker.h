// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/findings.h"
#include "model/trace/pairing/segment_lives.h"
#include "model/trace/recording.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace strata::model {

/// A set of addresses as disjoint ranges that do not touch.
class AddressSet {
public:
    void add(std::uint64_t begin, std::uint64_t end);
    /// How many addresses of [begin, end) are in the set.
    [[nodiscard]] std::uint64_t covered(std::uint64_t begin, std::uint64_t end) const;

private:
    std::map<std::uint64_t, std::uint64_t> m_ranges;
};

/// Follows the segments of a device from its base state through the events on segments; as the trace grows,
/// for what each new event of them costs, O(log n). A value: a copy goes its own way.
///
/// Pool of a life that no end state knows: 2 MiB or less is small, more is large, of the pool_id that its
/// event has, else of the default pool.
class SegmentTracker {
public:
    /// What was mapped when the trace began, as the base state has it. Before the first event.
    void begin(const DeviceRecording& device);
    /// The events of the device behind those of the last call. May add pools to the recording.
    void append(Recording& recording, const DeviceRecording& device, FindingList& findings);
    /// Compares what lives with the final segments, which are what there is after the last event: tells the
    /// pools of what they hold, and adds what nothing else told of. Nothing may be appended after that.
    void joinWithEndState(const DeviceRecording& device, FindingList& findings);

    /// Grows with every event on segments: with it, what lives() gives.
    [[nodiscard]] std::size_t version() const { return m_version; }
    /// Lives from before the trace that events told of, not the base state.
    [[nodiscard]] std::size_t olderFound() const { return m_olderFound; }
    /// The lives so far, as a snapshot. O(lives that have not ended), and what SegmentLives::index() says.
    [[nodiscard]] SegmentLives lives();

private:
    void onMapped(Recording& recording, const EventColumns& events, std::uint32_t e, FindingList& findings);
    void onUnmapped(Recording& recording, const EventColumns& events, std::uint32_t e, FindingList& findings);
    template <class Gap> void endLives(std::uint64_t begin, std::uint64_t end, EventId at, Gap&& gap);
    void addLive(const SegmentLife& life);
    PoolIndex poolOfEvent(Recording& recording, const EventColumns& events, std::uint32_t e);
    void joinWith(const FinalSegment& segment, EventIndex last, FindingList& findings);

    SegmentLives m_lives;
    std::map<std::uint64_t, std::uint32_t> m_live; // mapped at the moment, by address: disjoint rows
    AddressSet m_seen; // mapped or unmapped by the trace
    std::map<std::pair<PoolIndex, bool>, PoolIndex> m_pools; // (pool_id of the event, small) -> pool
    std::size_t m_next = 0; // event
    std::size_t m_version = 0;
    std::size_t m_olderFound = 0;
};

} // namespace strata::model
