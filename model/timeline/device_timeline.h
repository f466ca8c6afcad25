// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"
#include "model/timeline/curve.h"
#include "model/timeline/live_index.h"
#include "model/trace/device_trace.h"

#include <memory>

namespace strata::model {

/// The indexes over one device that every view and command asks: built together after a load, immutable.
/// Keeps a pointer to the trace, which must outlive it.
///
/// Of a trace that grew, the timeline of the one before serves again: what is new is added for what it costs.
class DeviceTimeline {
public:
    explicit DeviceTimeline(const DeviceTrace& trace)
        : m_trace(&trace)
        , m_clock(trace)
        , m_requested(trace, CurveKind::Requested)
        , m_pending(trace, CurveKind::PendingFree)
        , m_reserved(trace, CurveKind::Reserved)
        , m_live(trace)
    {
    }

    /// The trace of `earlier` must still be there, now. One thread at a time goes on from a timeline.
    DeviceTimeline(const DeviceTrace& trace, const DeviceTimeline& earlier)
        : m_trace(&trace)
        , m_clock(trace, earlier.m_clock)
        , m_requested(trace, earlier.m_requested)
        , m_pending(trace, earlier.m_pending)
        , m_reserved(trace, earlier.m_reserved)
        , m_live(trace, earlier.m_live)
    {
    }
    /// The timeline of `trace`, from `earlier` where it is that of a trace that this one continues.
    [[nodiscard]] static std::shared_ptr<const DeviceTimeline> of(
        const DeviceTrace& trace, const DeviceTimeline* earlier)
    {
        return earlier != nullptr && trace.continues(earlier->trace())
            ? std::make_shared<const DeviceTimeline>(trace, *earlier)
            : std::make_shared<const DeviceTimeline>(trace);
    }

    [[nodiscard]] const DeviceTrace& trace() const { return *m_trace; }
    [[nodiscard]] const Clock& clock() const { return m_clock; }
    [[nodiscard]] const Curve& requested() const { return m_requested; }
    [[nodiscard]] const Curve& pendingFree() const { return m_pending; }
    [[nodiscard]] const Curve& reserved() const { return m_reserved; }
    [[nodiscard]] const LiveIndex& live() const { return m_live; }

private:
    const DeviceTrace* m_trace;
    Clock m_clock;
    Curve m_requested, m_pending, m_reserved;
    LiveIndex m_live;
};

} // namespace strata::model
