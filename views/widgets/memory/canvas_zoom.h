// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/viewport.h"
#include "views/widgets/memory/hit.h"

#include <QSize>

namespace strata::views {

// How high the pictures of a memory canvas can be, and zooming into a thing. GUI thread.

/// Bytes: the highest point of the curves of a device, the driver's included.
[[nodiscard]] double highestOf(const DeviceData& device);

/// Sets the heights of a device's pictures, in bytes, as limits of the viewport. Where a height changes, all
/// of that picture is seen. `canvas`: its size in points, which leaves room above the curves.
void setHeights(Viewport& viewport, const DeviceData& device, QSize canvas);
/// The same where `device` is a newer generation of `before`; but what is seen stays.
void growHeights(Viewport& viewport, const DeviceData& device, const DeviceData& before, QSize canvas);

/// Shows a thing with what is around it. Where it fills the view already, zooms in.
void zoomToExtent(Viewport& viewport, const Extent& extent);

} // namespace strata::views
