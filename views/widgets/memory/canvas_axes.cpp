// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/axis_painter.h"
#include "views/widgets/memory/canvas_scene.h"

#include <QPainter>

namespace strata::views {

void paintAxes(QPainter& painter, const CanvasScene& scene)
{
    const AxisLook look{ scene.axisFont(), scene.colour(Palette::Role::TextMuted),
        scene.colour(Palette::Role::Line), scene.ratio };
    paintByteAxis(painter, look, scene.layout.curves, scene.curveY);
    paintAxisFrame(painter, look, scene.layout.curves);
    if (scene.mode == PictureMode::Blocks)
        paintAxisFrame(painter, look, scene.layout.picture);
    if (scene.hasEvents())
        paintEventAxis(painter, look, scene.layout.axis, scene.x);
}

} // namespace strata::views
