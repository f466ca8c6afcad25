// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// Allocated and Active are sums of rounded sizes: of what the program owns, and with what it has freed but
/// another stream may still use.
enum class CurveKind : std::uint8_t { Requested, PendingFree, Reserved, Allocated, Active };

struct CurveRange {
    std::int64_t min = 0;
    std::int64_t max = 0;
    EventIndex maxEvent = -1; ///< the first event of the range that has the maximum

    friend bool operator==(const CurveRange&, const CurveRange&) = default;
};

/// A value after every event of a device, with the minimum and maximum of any range in O(log n) plus a
/// bucket, so that a picture costs per pixel and a spike of one event never vanishes.
///
///     level 1 | min max of 256 events      | ...
///     level 0 | min max of 128 | min max   | ...     + where in the bucket the maximum is
///     start   | value before   | value     | ...
///     events  | delta, delta, ...          |          not stored: the trace's own
///
/// Each further level joins two nodes of the one below, once both are full: nodes never change, and stand in
/// the order in which they came to be. Nodes are relative to the value before the first event, which the
/// trace may learn of later. A third of a byte an event. Immutable; safe from any thread. Keeps a pointer to
/// the trace, which must outlive it.
class Curve {
public:
    Curve(const DeviceTrace& trace, CurveKind kind);
    /// Allocated or Active: `rounding`, rounded less requested bytes of every block, all known, must outlive
    /// the curve.
    Curve(const DeviceTrace& trace, CurveKind kind, const BlockColumn<std::uint32_t>& rounding);
    /// Of a trace that continues the one of `earlier`, for what the new events cost. One thread at a time
    /// goes on from a curve.
    Curve(const DeviceTrace& trace, const Curve& earlier);

    [[nodiscard]] CurveKind kind() const { return m_kind; }
    [[nodiscard]] EventIndex eventCount() const { return m_events; }

    /// The value after event `e`; -1 gives the start. `e` is clamped to the trace.
    [[nodiscard]] std::int64_t at(EventIndex e) const;

    /// Over the states after events first..last, both included (-1 allowed); clamped to the trace. The state
    /// after `first` alone if first > last.
    [[nodiscard]] CurveRange range(EventIndex first, EventIndex last) const;

    /// The ranges of neighbouring columns, as columnEdges() gives them: column c holds the events edges[c] ..
    /// edges[c + 1] - 1; where those are none, it shows the state after edges[c] - 1. The same as range() of
    /// each, in one walk from left to right: where columns share a bucket, its events are added up once.
    [[nodiscard]] std::vector<CurveRange> columns(std::span<const EventIndex> edges) const;

    /// at() of each of the events, which must not fall; in one walk, too.
    [[nodiscard]] std::vector<std::int64_t> atEach(std::span<const EventIndex> events) const;

    [[nodiscard]] std::size_t bytesResident() const;

private:
    struct Node {
        std::int64_t min, max;
    };
    template <CurveKind kind> class Walk;
    template <class Call> auto withKind(const Call& call) const;
    template <CurveKind kind> [[nodiscard]] std::int64_t delta(EventIndex e) const;
    template <CurveKind kind>
    [[nodiscard]] std::int64_t delta(EventIndex e, const DeviceTrace::Step& step) const;
    template <CurveKind kind> [[nodiscard]] std::int64_t roundedDelta(const DeviceTrace::Step& step) const;
    template <CurveKind kind> void append();
    void closeBucket(std::size_t bucket);
    [[nodiscard]] const Node& nodeAt(std::size_t level, std::size_t node) const;
    [[nodiscard]] std::int64_t absolute(std::int64_t value) const { return wrapAdd(m_start, value); }
    [[nodiscard]] CurveRange absolute(const CurveRange& range) const
    {
        return { absolute(range.min), absolute(range.max), range.maxEvent };
    }
    template <CurveKind kind> [[nodiscard]] std::int64_t valueAt(EventIndex e) const;
    template <CurveKind kind> [[nodiscard]] CurveRange rangeOf(EventIndex first, EventIndex last) const;
    template <CurveKind kind>
    void widenByEvents(CurveRange& range, std::size_t bucket, EventIndex first, EventIndex last) const;
    template <CurveKind kind>
    void widenBackwards(
        CurveRange& range, std::size_t bucket, EventIndex first, EventIndex last, EventIndex end) const;
    void widenByBuckets(CurveRange& range, std::size_t first, std::size_t end) const;
    [[nodiscard]] std::size_t firstBucketWithMax(std::size_t level, std::size_t node) const;

    const DeviceTrace* m_trace;
    const BlockColumn<std::uint32_t>* m_rounding = nullptr;
    CurveKind m_kind;
    EventIndex m_events = 0;
    std::int64_t m_start = 0;
    // What follows is relative to m_start. Chunks are small, since the last one is copied as the trace grows.
    template <class T> using Values = Column<T, 6>;
    std::int64_t m_end = 0; // the value after the last event
    Values<std::int64_t> m_bucketStart; // the value before the bucket's first event
    Values<std::uint8_t> m_maxOffset; // of the first event in the bucket that has its maximum
    Values<Node> m_nodes; // level 0: one node a bucket
    Values<Node> m_upper; // further levels, of full buckets
};

} // namespace strata::model
