// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/curve.h"

#include <algorithm>
#include <limits>

namespace strata::model {

namespace {

constexpr EventIndex kBucket = 128;

/// Sums of crafted input may leave 64 bits: they wrap, the same on every way to a value.
std::int64_t addWrapping(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

std::int64_t subtractWrapping(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

std::int64_t startOf(const Totals& totals, CurveKind kind)
{
    switch (kind) {
    case CurveKind::Requested:
        return totals.requestedBytesStart;
    case CurveKind::PendingFree:
        return totals.pendingBytesStart;
    case CurveKind::Reserved:
        return totals.reservedBytesStart;
    }
    return 0;
}

} // namespace

Curve::Curve(const DeviceTrace& trace, CurveKind kind)
    : m_trace(&trace)
    , m_kind(kind)
    , m_events(std::max<EventIndex>(trace.eventCount(), 0))
    , m_start(startOf(trace.totals(), kind))
{
    const auto buckets = static_cast<std::size_t>((m_events + kBucket - 1) / kBucket);
    m_bucketStart.reserve(buckets);
    m_maxOffset.reserve(buckets);
    std::vector<Node> nodes;
    nodes.reserve(buckets);
    std::int64_t value = m_start;
    for (EventIndex first = 0; first < m_events; first += kBucket) {
        m_bucketStart.push_back(value);
        const EventIndex end = std::min(first + kBucket, m_events);
        value = addWrapping(value, delta(first));
        Node node{ value, value };
        EventIndex maxEvent = first;
        for (EventIndex e = first + 1; e < end; ++e) {
            value = addWrapping(value, delta(e));
            node.min = std::min(node.min, value);
            if (value > node.max) {
                node.max = value;
                maxEvent = e;
            }
        }
        nodes.push_back(node);
        m_maxOffset.push_back(static_cast<std::uint8_t>(maxEvent - first));
    }
    m_end = value;
    m_levels.push_back(std::move(nodes));
    while (m_levels.back().size() > 1) {
        const std::vector<Node>& below = m_levels.back();
        std::vector<Node> level;
        level.reserve((below.size() + 1) / 2);
        for (std::size_t i = 0; i < below.size(); i += 2) {
            const Node& other = below[std::min(i + 1, below.size() - 1)];
            level.push_back({ std::min(below[i].min, other.min), std::max(below[i].max, other.max) });
        }
        m_levels.push_back(std::move(level));
    }
}

std::int64_t Curve::delta(EventIndex e) const
{
    switch (m_kind) {
    case CurveKind::Requested:
        return m_trace->requestedDelta(e);
    case CurveKind::PendingFree:
        return m_trace->pendingDelta(e);
    case CurveKind::Reserved:
        return m_trace->reservedDelta(e);
    }
    return 0;
}

std::int64_t Curve::at(EventIndex e) const
{
    if (e < 0 || m_events == 0)
        return m_start;
    const EventIndex last = std::min(e, m_events - 1);
    const auto bucket = static_cast<std::size_t>(last / kBucket);
    const Node& node = m_levels[0][bucket];
    if (node.min == node.max)
        return node.min;
    std::int64_t value = m_bucketStart[bucket];
    for (EventIndex i = last / kBucket * kBucket; i <= last; ++i)
        value = addWrapping(value, delta(i));
    return value;
}

CurveRange Curve::range(EventIndex first, EventIndex last) const
{
    first = std::clamp<EventIndex>(first, -1, m_events - 1);
    last = std::clamp<EventIndex>(last, -1, m_events - 1);
    if (first >= last) {
        const std::int64_t value = at(first);
        return { value, value, first };
    }
    CurveRange range{ m_start, m_start, -1 };
    if (first < 0)
        first = 0;
    else
        range = { std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), first };

    const auto firstBucket = static_cast<std::size_t>(first / kBucket);
    const auto lastBucket = static_cast<std::size_t>(last / kBucket);
    const bool wholeFirst = first % kBucket == 0;
    const bool wholeLast = last % kBucket == kBucket - 1 || last == m_events - 1;
    if (firstBucket == lastBucket && !(wholeFirst && wholeLast)) {
        widenByEvents(range, firstBucket, first, last);
        return range;
    }
    if (!wholeFirst)
        widenByEvents(range, firstBucket, first, static_cast<EventIndex>(firstBucket + 1) * kBucket - 1);
    widenByBuckets(range, firstBucket + (wholeFirst ? 0 : 1), lastBucket + (wholeLast ? 1 : 0));
    if (!wholeLast)
        widenByEvents(range, lastBucket, static_cast<EventIndex>(lastBucket) * kBucket, last);
    return range;
}

void Curve::widenByEvents(CurveRange& range, std::size_t bucket, EventIndex first, EventIndex last) const
{
    const Node& node = m_levels[0][bucket];
    if (node.min == node.max) {
        range.min = std::min(range.min, node.min);
        if (node.max > range.max) {
            range.max = node.max;
            range.maxEvent = first;
        }
        return;
    }
    const EventIndex begin = static_cast<EventIndex>(bucket) * kBucket;
    const EventIndex end = std::min(begin + kBucket, m_events);
    if (first - begin > end - last) {
        widenBackwards(range, bucket, first, last, end);
        return;
    }
    std::int64_t value = m_bucketStart[bucket];
    for (EventIndex e = begin; e < first; ++e)
        value = addWrapping(value, delta(e));
    for (EventIndex e = first; e <= last; ++e) {
        value = addWrapping(value, delta(e));
        range.min = std::min(range.min, value);
        if (value > range.max) {
            range.max = value;
            range.maxEvent = e;
        }
    }
}

/// The same from the bucket's end, which is nearer: the next bucket's start is the value there.
void Curve::widenBackwards(
    CurveRange& range, std::size_t bucket, EventIndex first, EventIndex last, EventIndex end) const
{
    std::int64_t value = bucket + 1 < m_bucketStart.size() ? m_bucketStart[bucket + 1] : m_end;
    for (EventIndex e = end - 1; e > last; --e)
        value = subtractWrapping(value, delta(e));
    CurveRange part{ value, value, last };
    for (EventIndex e = last; e > first;) {
        value = subtractWrapping(value, delta(e--));
        part.min = std::min(part.min, value);
        if (value >= part.max) {
            part.max = value;
            part.maxEvent = e;
        }
    }
    range.min = std::min(range.min, part.min);
    if (part.max > range.max) {
        range.max = part.max;
        range.maxEvent = part.maxEvent;
    }
}

/// Covers buckets [first, end) by the largest nodes that fit, from left to right.
void Curve::widenByBuckets(CurveRange& range, std::size_t first, std::size_t end) const
{
    while (first < end) {
        std::size_t level = 0;
        while (level + 1 < m_levels.size() && (first & ((std::size_t{ 2 } << level) - 1)) == 0
            && first + (std::size_t{ 2 } << level) <= end)
            ++level;
        const std::size_t index = first >> level;
        const Node& node = m_levels[level][index];
        range.min = std::min(range.min, node.min);
        if (node.max > range.max) {
            range.max = node.max;
            const std::size_t bucket = firstBucketWithMax(level, index);
            range.maxEvent = static_cast<EventIndex>(bucket) * kBucket + m_maxOffset[bucket];
        }
        first += std::size_t{ 1 } << level;
    }
}

std::size_t Curve::firstBucketWithMax(std::size_t level, std::size_t node) const
{
    const std::int64_t max = m_levels[level][node].max;
    for (; level > 0; --level)
        node = m_levels[level - 1][2 * node].max == max ? 2 * node : 2 * node + 1;
    return node;
}

std::size_t Curve::bytesResident() const
{
    std::size_t bytes = m_bucketStart.capacity() * sizeof(std::int64_t) + m_maxOffset.capacity();
    for (const std::vector<Node>& level : m_levels)
        bytes += level.capacity() * sizeof(Node);
    return bytes;
}

} // namespace strata::model
