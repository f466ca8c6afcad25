// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/clock.h"
#include "model/timeline/curve.h"
#include "model/timeline/live_index.h"
#include "model/trace/device_trace.h"

namespace strata::model {

/// The indexes over one device that every view and command asks: built together after a load, immutable.
/// Keeps a pointer to the trace, which must outlive it.
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
