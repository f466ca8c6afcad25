// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/leaks/leaks.h"
#include "model/timeline/curve.h"

namespace strata::model {

/// What each step adds to a site: the one figure that texts and tables show.
struct LeakRate {
    std::int64_t bytes = 0;
    CurveKind of = CurveKind::Allocated;
};

/// Of allocated bytes; of segments alone reserved ones, and of steps that grow, without a site, requested ones.
[[nodiscard]] LeakRate rateOf(const LeakSite& site);

/// "reserved", "requested"; empty of allocated bytes, which is what a heading says.
[[nodiscard]] Sentence otherBytes(const LeakRate& rate);

} // namespace strata::model
