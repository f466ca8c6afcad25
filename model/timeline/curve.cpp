// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/curve.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

namespace strata::model {

namespace {

constexpr EventIndex kBucket = 128;
static_assert(Column<BlockId>::kChunk % kBucket == 0, "a bucket's events lie in one chunk");

/// Changes a value, or appends it.
template <class Values, class Value> void put(Values& values, std::size_t at, Value value)
{
    if (at < values.size())
        values.edit(at) = value;
    else
        values.push_back(value);
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
    case CurveKind::Allocated:
    case CurveKind::Active:
        break;
    }
    return 0;
}

std::int64_t roundedStartOf(
    const DeviceTrace& trace, CurveKind kind, const BlockColumn<std::uint32_t>& rounding)
{
    const BlockColumns& blocks = trace.blocks();
    std::int64_t start = 0;
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        if (kind == CurveKind::Active || blocks.pendingAtStart[row] == 0)
            start = wrapAdd(start, blocks.requestedBytes.older[row] + rounding.older[row]);
    return start;
}

} // namespace

/// Calls `call` with the kind as a constant, so that loops over events have their delta inlined.
template <class Call> auto Curve::withKind(const Call& call) const
{
    switch (m_kind) {
    case CurveKind::Requested:
        return call(std::integral_constant<CurveKind, CurveKind::Requested>());
    case CurveKind::PendingFree:
        return call(std::integral_constant<CurveKind, CurveKind::PendingFree>());
    case CurveKind::Allocated:
        return call(std::integral_constant<CurveKind, CurveKind::Allocated>());
    case CurveKind::Active:
        return call(std::integral_constant<CurveKind, CurveKind::Active>());
    case CurveKind::Reserved:
        break;
    }
    return call(std::integral_constant<CurveKind, CurveKind::Reserved>());
}

template <CurveKind kind> std::int64_t Curve::roundedDelta(const DeviceTrace::Step& step) const
{
    constexpr Action kEnd = kind == CurveKind::Active ? Action::FreeCompleted : Action::FreeRequested;
    if ((step.action != Action::Alloc && step.action != kEnd) || !step.block.valid())
        return 0;
    const std::int64_t bytes
        = m_trace->blocks().requestedBytes[step.block] + std::int64_t{ (*m_rounding)[step.block] };
    return step.action == Action::Alloc ? bytes : -bytes;
}

template <CurveKind kind> std::int64_t Curve::delta(EventIndex e) const
{
    if constexpr (kind == CurveKind::Requested)
        return m_trace->requestedDelta(e);
    else if constexpr (kind == CurveKind::PendingFree)
        return m_trace->pendingDelta(e);
    else if constexpr (kind == CurveKind::Reserved)
        return m_trace->reservedDelta(e);
    else
        return roundedDelta<kind>({ m_trace->events().action[static_cast<std::size_t>(e)], 0,
            m_trace->events().block[static_cast<std::size_t>(e)] });
}

template <CurveKind kind> std::int64_t Curve::delta(EventIndex e, const DeviceTrace::Step& step) const
{
    if constexpr (kind == CurveKind::Requested)
        return m_trace->requestedDeltaOf(e, step);
    else if constexpr (kind == CurveKind::PendingFree)
        return m_trace->pendingDeltaOf(e, step);
    else if constexpr (kind == CurveKind::Reserved)
        return m_trace->reservedDeltaOf(e, step);
    else
        return roundedDelta<kind>(step);
}

Curve::Curve(const DeviceTrace& trace, CurveKind kind)
    : m_trace(&trace)
    , m_kind(kind)
    , m_start(startOf(trace.totals(), kind))
{
    withKind([this](auto constant) { append<constant.value>(); });
}

Curve::Curve(const DeviceTrace& trace, CurveKind kind, const BlockColumn<std::uint32_t>& rounding)
    : m_trace(&trace)
    , m_rounding(&rounding)
    , m_kind(kind)
    , m_start(roundedStartOf(trace, kind, rounding))
{
    withKind([this](auto constant) { append<constant.value>(); });
}

Curve::Curve(const DeviceTrace& trace, const Curve& earlier)
    : Curve(earlier)
{
    m_trace = &trace;
    m_start = startOf(trace.totals(), m_kind);
    withKind([this](auto constant) { append<constant.value>(); });
}

/// Brings the curve to the trace's last event, from the bucket on that was not full.
template <CurveKind kind> void Curve::append()
{
    const EventIndex count = std::max<EventIndex>(m_trace->eventCount(), 0);
    const EventColumns& events = m_trace->events();
    const auto firstBucket = static_cast<std::size_t>(m_events / kBucket);
    std::int64_t value = firstBucket < m_bucketStart.size() ? m_bucketStart[firstBucket] : m_end;
    std::size_t bucket = firstBucket;
    for (EventIndex first = static_cast<EventIndex>(firstBucket) * kBucket; first < count;
         first += kBucket, ++bucket) {
        put(m_bucketStart, bucket, value);
        const EventIndex end = std::min(first + kBucket, count);
        const auto row = static_cast<std::size_t>(first);
        const Action* const action = events.action.run(row).data();
        const std::int64_t* const bytes = events.bytes.run(row).data();
        const BlockId* const block = events.block.run(row).data();
        const auto change = [&](EventIndex e) {
            return delta<kind>(e, { action[e - first], bytes[e - first], block[e - first] });
        };
        value = wrapAdd(value, change(first));
        Node node{ value, value };
        EventIndex maxEvent = first;
        for (EventIndex e = first + 1; e < end; ++e) {
            value = wrapAdd(value, change(e));
            node.min = std::min(node.min, value);
            if (value > node.max) {
                node.max = value;
                maxEvent = e;
            }
        }
        put(m_nodes, bucket, node);
        put(m_maxOffset, bucket, static_cast<std::uint8_t>(maxEvent - first));
        if (end - first == kBucket)
            closeBucket(bucket);
    }
    m_end = value;
    m_events = count;
}

/// Adds the nodes that end with the bucket, which is full:
///
///     bucket   0   1   2   3   4   5   6   7
///     level 1    a       b       d       e          in m_upper: a b c d e f g
///     level 2        c               f
///     level 3                g
void Curve::closeBucket(std::size_t bucket)
{
    const std::size_t count = bucket + 1;
    for (std::size_t level = 1; count % (std::size_t{ 1 } << level) == 0; ++level) {
        const std::size_t node = (count >> level) - 1;
        const Node left = nodeAt(level - 1, 2 * node), right = nodeAt(level - 1, 2 * node + 1);
        m_upper.push_back({ std::min(left.min, right.min), std::max(left.max, right.max) });
    }
}

/// Of n buckets, n - popcount(n) nodes come to be.
const Curve::Node& Curve::nodeAt(std::size_t level, std::size_t node) const
{
    if (level == 0)
        return m_nodes[node];
    const std::size_t before = ((node + 1) << level) - 1; // buckets, but for the last of the node
    return m_upper[before - static_cast<std::size_t>(std::popcount(before)) + level - 1];
}

std::int64_t Curve::at(EventIndex e) const
{
    return absolute(withKind([&](auto constant) { return valueAt<constant.value>(e); }));
}

template <CurveKind kind> std::int64_t Curve::valueAt(EventIndex e) const
{
    if (e < 0 || m_events == 0)
        return 0;
    const EventIndex last = std::min(e, m_events - 1);
    const auto bucket = static_cast<std::size_t>(last / kBucket);
    const Node& node = m_nodes[bucket];
    if (node.min == node.max)
        return node.min;
    std::int64_t value = m_bucketStart[bucket];
    for (EventIndex i = last / kBucket * kBucket; i <= last; ++i)
        value = wrapAdd(value, delta<kind>(i));
    return value;
}

CurveRange Curve::range(EventIndex first, EventIndex last) const
{
    return absolute(withKind([&](auto constant) { return rangeOf<constant.value>(first, last); }));
}

template <CurveKind kind> CurveRange Curve::rangeOf(EventIndex first, EventIndex last) const
{
    first = std::clamp<EventIndex>(first, -1, m_events - 1);
    last = std::clamp<EventIndex>(last, -1, m_events - 1);
    if (first >= last) {
        const std::int64_t value = valueAt<kind>(first);
        return { value, value, first };
    }
    CurveRange range{ 0, 0, -1 };
    if (first < 0)
        first = 0;
    else
        range = { std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), first };

    const auto firstBucket = static_cast<std::size_t>(first / kBucket);
    const auto lastBucket = static_cast<std::size_t>(last / kBucket);
    const bool wholeFirst = first % kBucket == 0;
    const bool wholeLast = last % kBucket == kBucket - 1 || last == m_events - 1;
    if (firstBucket == lastBucket && !(wholeFirst && wholeLast)) {
        widenByEvents<kind>(range, firstBucket, first, last);
        return range;
    }
    if (!wholeFirst)
        widenByEvents<kind>(
            range, firstBucket, first, static_cast<EventIndex>(firstBucket + 1) * kBucket - 1);
    widenByBuckets(range, firstBucket + (wholeFirst ? 0 : 1), lastBucket + (wholeLast ? 1 : 0));
    if (!wholeLast)
        widenByEvents<kind>(range, lastBucket, static_cast<EventIndex>(lastBucket) * kBucket, last);
    return range;
}

template <CurveKind kind>
void Curve::widenByEvents(CurveRange& range, std::size_t bucket, EventIndex first, EventIndex last) const
{
    const Node& node = m_nodes[bucket];
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
        widenBackwards<kind>(range, bucket, first, last, end);
        return;
    }
    std::int64_t value = m_bucketStart[bucket];
    for (EventIndex e = begin; e < first; ++e)
        value = wrapAdd(value, delta<kind>(e));
    for (EventIndex e = first; e <= last; ++e) {
        value = wrapAdd(value, delta<kind>(e));
        range.min = std::min(range.min, value);
        if (value > range.max) {
            range.max = value;
            range.maxEvent = e;
        }
    }
}

/// The same from the bucket's end, which is nearer: the next bucket's start is the value there.
template <CurveKind kind>
void Curve::widenBackwards(
    CurveRange& range, std::size_t bucket, EventIndex first, EventIndex last, EventIndex end) const
{
    std::int64_t value = bucket + 1 < m_bucketStart.size() ? m_bucketStart[bucket + 1] : m_end;
    for (EventIndex e = end - 1; e > last; --e)
        value = wrapSub(value, delta<kind>(e));
    CurveRange part{ value, value, last };
    for (EventIndex e = last; e > first;) {
        value = wrapSub(value, delta<kind>(e--));
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
    const std::size_t full = std::min(end, static_cast<std::size_t>(m_events / kBucket));
    while (first < end) {
        std::size_t level = 0;
        while (
            (first & ((std::size_t{ 2 } << level) - 1)) == 0 && first + (std::size_t{ 2 } << level) <= full)
            ++level;
        const std::size_t index = first >> level;
        const Node& node = nodeAt(level, index);
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
    const std::int64_t max = nodeAt(level, node).max;
    for (; level > 0; --level)
        node = nodeAt(level - 1, 2 * node).max == max ? 2 * node : 2 * node + 1;
    return node;
}

/// Walks to the right and remembers how far it has added up.
///
///     bucket  |--------------------------------|--------- ...
///             | added up: m_value | m_next ..  |
template <CurveKind Walked> class Curve::Walk {
public:
    explicit Walk(const Curve& curve)
        : m_curve(curve)
    {
    }

    /// The value after event `e` of bucket `bucket`.
    std::int64_t to(std::size_t bucket, EventIndex e)
    {
        reach(bucket, e);
        for (; m_next <= e; ++m_next)
            m_value = wrapAdd(m_value, m_curve.delta<Walked>(m_next));
        return m_value;
    }

    /// Widens `range` by the values after events first .. last of bucket `bucket`.
    void widen(CurveRange& range, std::size_t bucket, EventIndex first, EventIndex last)
    {
        if (first > static_cast<EventIndex>(bucket) * kBucket)
            to(bucket, first - 1);
        else
            reach(bucket, first);
        for (; m_next <= last; ++m_next) {
            m_value = wrapAdd(m_value, m_curve.delta<Walked>(m_next));
            range.min = std::min(range.min, m_value);
            if (m_value > range.max) {
                range.max = m_value;
                range.maxEvent = m_next;
            }
        }
    }

private:
    /// Stands in `bucket`, with nothing after `e` added up.
    void reach(std::size_t bucket, EventIndex e)
    {
        if (bucket == m_bucket && m_next <= e + 1)
            return;
        m_bucket = bucket;
        m_next = static_cast<EventIndex>(bucket) * kBucket;
        m_value = m_curve.m_bucketStart[bucket];
    }

    const Curve& m_curve;
    std::size_t m_bucket = std::numeric_limits<std::size_t>::max();
    EventIndex m_next = 0;
    std::int64_t m_value = 0;
};

std::vector<std::int64_t> Curve::atEach(std::span<const EventIndex> events) const
{
    std::vector<std::int64_t> values;
    values.reserve(events.size());
    withKind([&](auto constant) {
        Walk<constant.value> walk(*this);
        for (const EventIndex event : events) {
            const EventIndex e = std::min(event, m_events - 1);
            if (e < 0) {
                values.push_back(m_start);
                continue;
            }
            const auto bucket = static_cast<std::size_t>(e / kBucket);
            const Node& node = m_nodes[bucket];
            values.push_back(absolute(node.min == node.max ? node.min : walk.to(bucket, e)));
        }
    });
    return values;
}

std::vector<CurveRange> Curve::columns(std::span<const EventIndex> edges) const
{
    std::vector<CurveRange> columns;
    if (edges.size() < 2)
        return columns;
    columns.reserve(edges.size() - 1);
    withKind([&](auto constant) {
        Walk<constant.value> walk(*this);
        for (std::size_t c = 0; c + 1 < edges.size(); ++c) {
            EventIndex first = std::clamp<EventIndex>(edges[c], 0, m_events);
            const EventIndex end = std::clamp<EventIndex>(edges[c + 1], 0, m_events);
            if (first >= end) { // the state that holds there
                --first;
                std::int64_t value = 0;
                if (first >= 0) {
                    const auto bucket = static_cast<std::size_t>(first / kBucket);
                    const Node& node = m_nodes[bucket];
                    value = node.min == node.max ? node.min : walk.to(bucket, first);
                }
                columns.push_back(absolute({ value, value, first }));
                continue;
            }
            CurveRange range{ std::numeric_limits<std::int64_t>::max(),
                std::numeric_limits<std::int64_t>::min(), first };
            while (first < end) {
                const auto bucket = static_cast<std::size_t>(first / kBucket);
                const EventIndex bucketEnd
                    = std::min(static_cast<EventIndex>(bucket + 1) * kBucket, m_events);
                const Node& node = m_nodes[bucket];
                if (first % kBucket == 0 && bucketEnd <= end) { // all whole buckets at once
                    const auto whole = static_cast<std::size_t>(
                        end == m_events ? static_cast<EventIndex>(m_bucketStart.size()) : end / kBucket);
                    widenByBuckets(range, bucket, whole);
                    first = std::min(static_cast<EventIndex>(whole) * kBucket, m_events);
                    continue;
                }
                const EventIndex partEnd = std::min(bucketEnd, end);
                if (node.min != node.max) {
                    walk.widen(range, bucket, first, partEnd - 1);
                } else {
                    range.min = std::min(range.min, node.min);
                    if (node.max > range.max) {
                        range.max = node.max;
                        range.maxEvent = first;
                    }
                }
                first = partEnd;
            }
            columns.push_back(absolute(range));
        }
    });
    return columns;
}

std::size_t Curve::bytesResident() const
{
    return m_bucketStart.bytesResident() + m_maxOffset.bytesResident() + m_nodes.bytesResident()
        + m_upper.bytesResident();
}

} // namespace strata::model
