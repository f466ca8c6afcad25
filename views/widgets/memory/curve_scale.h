// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/summary/summary.h"

namespace strata::views {

/// The height of the curves of a device: what is reserved at most, what the driver says where that is drawn
/// too, and the capacity unless that would dwarf it.
[[nodiscard]] double highestCurve(const model::DeviceSummary& summary, std::int64_t driverBytes = 0);

/// Whether the scale up to highestCurve() reaches the capacity.
[[nodiscard]] bool reachesCapacity(const model::DeviceSummary& summary, double highest);

/// The scale ends a little above what it must show, so that the peak's label has room: rows of it and of all.
[[nodiscard]] double withHeadroom(double bytes, int rows, int room);

} // namespace strata::views
