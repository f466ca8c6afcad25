// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/raster/picture_store.h"

namespace strata::views {

/// The picture, and over it curves, marks, notes, annotations and axes: all of a canvas but what follows the
/// mouse. The curves of the scene are those of its x axis; where notes stand is written into the scene. Costs
/// per pixel column. `frame`: as large as the canvas, with the ratio of the scene. GUI thread.
void paintFrame(QImage& frame, CanvasScene& scene, const PictureStore& store);
/// The same as vectors, on a ground that is painted already. GUI thread.
void paintFrameVectors(
    QPainter& painter, CanvasScene& scene, const PictureStore& store, const GroupStyles& styles);

} // namespace strata::views
