// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/segment_tracker.h"

#include "model/base/units.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace strata::model {

namespace {

std::uint64_t endOf(std::uint64_t begin, std::int64_t bytes)
{
    const std::uint64_t end = begin + static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0));
    return end < begin ? std::numeric_limits<std::uint64_t>::max() : end;
}

} // namespace

void AddressSet::add(std::uint64_t begin, std::uint64_t end)
{
    auto at = m_ranges.upper_bound(begin);
    if (at != m_ranges.begin() && std::prev(at)->second >= begin) {
        --at;
        begin = at->first;
    }
    while (at != m_ranges.end() && at->first <= end) {
        end = std::max(end, at->second);
        at = m_ranges.erase(at);
    }
    m_ranges.emplace(begin, end);
}

std::uint64_t AddressSet::covered(std::uint64_t begin, std::uint64_t end) const
{
    std::uint64_t sum = 0;
    auto at = m_ranges.upper_bound(begin);
    if (at != m_ranges.begin())
        --at;
    for (; at != m_ranges.end() && at->first < end; ++at)
        if (at->second > begin)
            sum += std::min(end, at->second) - std::max(begin, at->first);
    return sum;
}

PoolIndex SegmentTracker::poolOfEvent(Recording& recording, const EventColumns& events, std::uint32_t e)
{
    constexpr std::int64_t kSmallSegment = 2 << 20;
    const PoolIndex recorded = events.pool[e];
    const bool small = events.bytes[e] <= kSmallSegment;
    const auto [entry, isNew] = m_pools.try_emplace({ recorded, small }, kNoIndex);
    if (isNew) {
        Pool pool = recorded == kNoIndex ? Pool{} : recording.pools[recorded];
        pool.kind = small ? SegmentKind::Small : SegmentKind::Large;
        entry->second = recording.internPool(pool);
    }
    return entry->second;
}

void SegmentTracker::addLive(const SegmentLife& life)
{
    if (life.bytes > 0)
        m_live[life.address] = m_lives.add(life);
}

/// Ends what lives in [begin, end); calls gap(begin, end) for each range in between where nothing did.
template <class Gap>
void SegmentTracker::endLives(std::uint64_t begin, std::uint64_t end, EventId at, Gap&& gap)
{
    auto live = m_live.upper_bound(begin);
    if (live != m_live.begin() && m_lives.rows()[std::prev(live)->second].end() > begin)
        --live;
    while (live != m_live.end() && live->first < end) {
        const std::uint32_t row = live->second;
        const SegmentLife whole = m_lives.rows()[row];
        const std::uint64_t from = std::max(begin, whole.address);
        const std::uint64_t to = std::min(end, whole.end());
        if (begin < from)
            gap(begin, from);
        live = m_live.erase(live);
        SegmentLife& ended = m_lives.edit(row);
        ended.address = from;
        ended.bytes = static_cast<std::int64_t>(to - from);
        ended.free = at;
        m_lives.end(row);
        SegmentLife rest = whole;
        rest.bytes = static_cast<std::int64_t>(from - whole.address);
        addLive(rest);
        rest.address = to;
        rest.bytes = static_cast<std::int64_t>(whole.end() - to);
        addLive(rest);
        begin = to;
    }
    if (begin < end)
        gap(begin, end);
}

void SegmentTracker::onMapped(
    Recording& recording, const EventColumns& events, std::uint32_t e, FindingList& findings)
{
    SegmentLife life;
    life.address = events.address[e];
    const std::uint64_t end = endOf(life.address, events.bytes[e]);
    life.bytes = static_cast<std::int64_t>(end - life.address);
    life.alloc = EventId{ e };
    life.stack = events.stack[e];
    life.stream = events.stream[e];
    life.pool = poolOfEvent(recording, events, e);
    life.expandable = events.action[e] == Action::SegmentMap;
    std::uint64_t gaps = 0;
    endLives(
        life.address, end, EventId{ e }, [&](std::uint64_t from, std::uint64_t to) { gaps += to - from; });
    if (const std::uint64_t shared = end - life.address - gaps; shared > 0)
        findings.add(Check::SegmentsOverlap, e, static_cast<std::int64_t>(shared), [&] {
            return say(
                "The segment at %1 (%2) lies over one that is still there: its segment_free is missing, "
                "the recording has probably lost events.",
                asAddress(life.address), asExactBytes(life.bytes));
        });
    m_seen.add(life.address, end);
    addLive(life);
}

void SegmentTracker::onUnmapped(
    Recording& recording, const EventColumns& events, std::uint32_t e, FindingList& findings)
{
    const std::uint64_t begin = events.address[e];
    const std::uint64_t end = endOf(begin, events.bytes[e]);
    endLives(begin, end, EventId{ e }, [&](std::uint64_t from, std::uint64_t to) {
        if (const std::uint64_t known = m_seen.covered(from, to); known > 0) {
            findings.add(Check::FreeOfFreed, e, static_cast<std::int64_t>(known), [&] {
                return say("The segment at %1 had already been given back: the segment_alloc before this is "
                           "missing, the recording has probably lost events.",
                    asAddress(from));
            });
            return;
        }
        SegmentLife older;
        older.address = from;
        older.bytes = static_cast<std::int64_t>(to - from);
        older.free = EventId{ e };
        older.stack = events.stack[e];
        older.stream = events.stream[e];
        older.pool = poolOfEvent(recording, events, e);
        older.expandable = events.action[e] == Action::SegmentUnmap;
        m_lives.add(older);
        ++m_olderFound;
    });
    m_seen.add(begin, end);
}

void SegmentTracker::begin(const DeviceRecording& device)
{
    for (const FinalSegment& segment : device.base.segments) {
        SegmentLife life;
        life.address = segment.address;
        life.bytes = static_cast<std::int64_t>(endOf(segment.address, segment.bytes) - segment.address);
        life.stack = segment.stack;
        life.stream = segment.stream;
        life.pool = segment.pool;
        life.expandable = segment.expandable;
        // Of segments that overlap, which a damaged file may have, the first one counts.
        const auto at = m_live.lower_bound(life.address);
        const bool overlaps = (at != m_live.end() && at->first < life.end())
            || (at != m_live.begin() && m_lives.rows()[std::prev(at)->second].end() > life.address);
        if (!overlaps)
            addLive(life);
    }
}

void SegmentTracker::append(Recording& recording, const DeviceRecording& device, FindingList& findings)
{
    const EventColumns& events = device.events;
    while (m_next < events.action.size()) {
        for (const Action action : events.action.run(m_next)) {
            const auto e = static_cast<std::uint32_t>(m_next++);
            if (action < Action::SegmentAlloc || action > Action::SegmentUnmap)
                continue;
            ++m_version;
            if (action == Action::SegmentAlloc || action == Action::SegmentMap)
                onMapped(recording, events, e, findings);
            else
                onUnmapped(recording, events, e, findings);
        }
    }
}

/// What lives inside the final segment takes its pool; what nothing lives in is older than the trace.
void SegmentTracker::joinWith(const FinalSegment& segment, EventIndex last, FindingList& findings)
{
    std::uint64_t begin = segment.address;
    const std::uint64_t end = endOf(begin, segment.bytes);
    std::vector<SegmentLife> older;
    const auto addOlder = [&](std::uint64_t from, std::uint64_t to) {
        SegmentLife life;
        life.address = from;
        life.bytes = static_cast<std::int64_t>(to - from);
        life.stack = segment.stack;
        life.stream = segment.stream;
        life.pool = segment.pool;
        life.expandable = segment.expandable;
        older.push_back(life);
        if (const std::uint64_t known = m_seen.covered(from, to); known > 0)
            findings.add(Check::EndStateDiffers, last, static_cast<std::int64_t>(known), [&] {
                return say("The final segment at %1 holds memory that the trace gave back to the driver: its "
                           "segment_alloc is missing, or trace and segments were not taken together.",
                    asAddress(segment.address));
            });
    };
    auto live = m_live.upper_bound(begin);
    if (live != m_live.begin() && m_lives.rows()[std::prev(live)->second].end() > begin)
        --live;
    for (; live != m_live.end() && live->first < end; ++live) {
        SegmentLife& life = m_lives.edit(live->second);
        life.pool = segment.pool;
        life.expandable = segment.expandable;
        if (!life.stack.valid())
            life.stack = segment.stack;
        if (begin < life.address)
            addOlder(begin, life.address);
        begin = std::max(begin, life.end());
    }
    if (begin < end)
        addOlder(begin, end);
    for (const SegmentLife& life : older)
        addLive(life);
}

void SegmentTracker::joinWithEndState(const DeviceRecording& device, FindingList& findings)
{
    const EventIndex last = device.events.size() - 1;
    AddressSet final;
    for (const FinalSegment& segment : device.finalSegments)
        final.add(segment.address, endOf(segment.address, segment.bytes));
    for (const auto& [address, row] : m_live) {
        const SegmentLife& life = m_lives.rows()[row];
        const std::uint64_t missing = life.end() - life.address - final.covered(life.address, life.end());
        if (missing > 0)
            findings.add(Check::EndStateDiffers, last, static_cast<std::int64_t>(missing), [&, a = address] {
                return say("The segment at %1 (%2) is there at the end of the trace and not among the final "
                           "segments: the trace was cut, or the snapshot holds only some pools.",
                    asAddress(a), asExactBytes(life.bytes));
            });
    }
    for (const FinalSegment& segment : device.finalSegments)
        joinWith(segment, last, findings);
}

SegmentLives SegmentTracker::lives()
{
    std::vector<std::uint32_t> live;
    live.reserve(m_live.size());
    for (const auto& [address, row] : m_live)
        live.push_back(row);
    m_lives.index(std::move(live));
    return m_lives;
}

} // namespace strata::model
