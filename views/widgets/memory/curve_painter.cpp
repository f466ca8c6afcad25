// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/fill_style.h"

#include <QPainter>

#include <cmath>

namespace strata::views {

namespace {

void fill(QPainter& painter, const std::vector<PixelSpan>& spans, const QBrush& brush)
{
    for (const PixelSpan& span : spans)
        painter.fillRect(QRect(span.x0, span.top, span.x1 - span.x0, span.bottom - span.top), brush);
}

} // namespace

void paintCurves(QPainter& painter, const CanvasScene& scene)
{
    painter.save();
    painter.translate(scene.layout.curves.topLeft());
    painter.scale(1 / scene.ratio, 1 / scene.ratio); // from here on in device pixels
    const int thickness = std::max(static_cast<int>(std::lround(1.5 * scene.ratio)), 1);
    const QColor requested = scene.colour(Palette::Role::Requested);
    if (scene.mode == PictureMode::Blocks) {
        QColor area = requested;
        area.setAlpha(48);
        fill(painter, areaSpans(scene.curves.requested, scene.curveY), area);
    }
    if (!scene.curves.pending.empty()) {
        QColor ground = scene.colour(Palette::Role::Surface);
        ground.setAlpha(150);
        QBrush brush = patternBrush(Pattern::Dotted, ground, scene.colour(Palette::Role::PendingFree),
            std::max(static_cast<int>(scene.ratio), 1));
        // The tile is in points; we stand in device pixels.
        brush.setTransform(QTransform::fromScale(scene.ratio, scene.ratio));
        fill(painter, pendingSpans(scene.curves, scene.curveY), brush);
    }
    // A halo of the surface's colour keeps the line readable on any layer.
    QColor halo = scene.colour(Palette::Role::Surface);
    halo.setAlpha(150);
    const int rim = std::max(static_cast<int>(scene.ratio), 1);
    auto spans = curveSpans(scene.curves.requested, scene.curveY, thickness);
    if (scene.mode == PictureMode::Stacked) {
        auto rims = spans;
        for (PixelSpan& span : rims)
            span.bottom = std::min(span.bottom + rim, scene.curveY.rows());
        fill(painter, rims, halo);
    }
    fill(painter, spans, requested);
    fill(painter, curveSpans(scene.curves.reserved, scene.curveY, thickness),
        scene.colour(Palette::Role::Reserved));
    painter.restore();
}

} // namespace strata::views
