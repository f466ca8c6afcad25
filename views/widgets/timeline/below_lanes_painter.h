// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/timeline/lanes_painter.h"

namespace strata::views {

/// What stands below the lanes, however they are scrolled: what the allocator asked of the driver, and
/// memory. Costs per pixel column. GUI thread.
void paintBelowLanes(QPainter& painter, const LanesScene& scene, const Palette& palette);

} // namespace strata::views
