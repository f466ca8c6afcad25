// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/raster/span_raster.h"

#include <QPainter>

#include <cmath>

namespace strata::views {

namespace {

struct Layer {
    std::vector<PixelSpan> spans;
    SpanFill fill;
};

int patternScale(const CanvasScene& scene)
{
    return std::max(static_cast<int>(scene.ratio), 1);
}

/// From the lowest up.
std::vector<Layer> curveLayers(const CanvasScene& scene)
{
    std::vector<Layer> layers;
    const int thickness = std::max(static_cast<int>(std::lround(1.5 * scene.ratio)), 1);
    const int hair = patternScale(scene);
    const QColor requested = scene.colour(scene.requestedRole());
    if (scene.mode == PictureMode::Blocks) {
        QColor area = requested;
        area.setAlpha(48);
        layers.push_back({ areaSpans(scene.curves.requested, scene.curveY), { area, Pattern::Plain, {} } });
    }
    QColor halo = scene.colour(Palette::Role::Surface);
    halo.setAlpha(150);
    if (!scene.curves.pending.empty())
        layers.push_back({ pendingSpans(scene.curves, scene.curveY),
            { halo, Pattern::Dotted, scene.colour(Palette::Role::PendingFree) } });
    // Where areas stand on each other their top edge is what is requested: spans would hide them.
    const bool stacked = scene.mode == PictureMode::Stacked;
    if (!scene.curves.allocated.empty())
        layers.push_back({ stacked ? capSpans(scene.curves.allocated, scene.curveY, hair)
                                   : curveSpans(scene.curves.allocated, scene.curveY, hair),
            { scene.colour(scene.allocatedRole()), Pattern::Plain, {} } });
    layers.push_back({ stacked ? capSpans(scene.curves.requested, scene.curveY, hair)
                               : curveSpans(scene.curves.requested, scene.curveY, thickness),
        { requested, Pattern::Plain, {} } });
    layers.push_back({ curveSpans(scene.curves.reserved, scene.curveY, thickness),
        { scene.colour(Palette::Role::Reserved), Pattern::Plain, {} } });
    return layers;
}

} // namespace

void paintCurves(QPainter& painter, const CanvasScene& scene)
{
    painter.save();
    painter.translate(scene.layout.curves.topLeft());
    painter.scale(1 / scene.ratio, 1 / scene.ratio); // from here on in device pixels
    for (const Layer& layer : curveLayers(scene)) {
        QBrush brush(layer.fill.colour);
        if (layer.fill.pattern != Pattern::Plain) {
            brush = patternBrush(layer.fill.pattern, layer.fill.colour, layer.fill.mark, patternScale(scene));
            // The tile is in points; we stand in device pixels.
            brush.setTransform(QTransform::fromScale(scene.ratio, scene.ratio));
        }
        for (const PixelSpan& span : layer.spans)
            painter.fillRect(QRect(span.x0, span.top, span.x1 - span.x0, span.bottom - span.top), brush);
    }
    painter.restore();
}

void paintCurves(QImage& frame, const CanvasScene& scene)
{
    const QPoint origin(static_cast<int>(std::lround(scene.layout.curves.left() * scene.ratio)),
        static_cast<int>(std::lround(scene.layout.curves.top() * scene.ratio)));
    for (const Layer& layer : curveLayers(scene))
        fillSpans(frame, origin, layer.spans, layer.fill, patternScale(scene));
}

} // namespace strata::views
