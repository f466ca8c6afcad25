// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/curve.h"

namespace strata::model {

/// Allocated and active bytes after every event, of a trace whose rounded sizes are all known: exact. Keeps
/// pointers to the trace and the sizes, which must outlive it. Immutable; any thread.
struct RoundedCurves {
    /// `rounding`: rounded less requested bytes of every block, as a replay that is exact has them.
    RoundedCurves(const DeviceTrace& trace, const BlockColumn<std::uint32_t>& rounding)
        : allocated(trace, CurveKind::Allocated, rounding)
        , active(trace, CurveKind::Active, rounding)
    {
    }

    Curve allocated, active;
};

} // namespace strata::model
