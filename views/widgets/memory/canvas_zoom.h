// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/viewport.h"
#include "views/widgets/memory/hit.h"

#include <QSize>

namespace strata::views {

/// Bytes: the highest point of the curves of a device, the driver's included.
[[nodiscard]] double highestOf(const DeviceData& device);

/// How high the pictures of a device are, on a canvas of so many points: as bytes, the limits of the
/// viewport.
void setHeights(Viewport& viewport, const DeviceData& device, QSize canvas);
/// The same where `device` is a newer generation of `before`: what is seen stays.
void growHeights(Viewport& viewport, const DeviceData& device, const DeviceData& before, QSize canvas);

/// Shows a thing with what is around it. Where it fills the view already, zooms in.
void zoomToExtent(Viewport& viewport, const Extent& extent);

} // namespace strata::views
