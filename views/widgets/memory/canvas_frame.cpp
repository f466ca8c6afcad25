// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_frame.h"

#include "views/widgets/memory/vector_painter.h"

#include <QPainter>

#include <cmath>

namespace strata::views {

namespace {

/// The latest picture; what was computed for all of it where that does not reach; else the ground. No pixel
/// twice.
void paintPictures(QImage& frame, const CanvasScene& scene, const PictureStore& store, QRgb surface)
{
    const QRect& area = scene.layout.picture;
    const QPoint origin(static_cast<int>(std::lround(area.left() * scene.ratio)),
        static_cast<int>(std::lround(area.top() * scene.ratio)));
    const QRect view(0, 0, scene.x.columns(), scene.y.rows());
    const ScaledPicture latest(store.latest(scene.mode), scene.x, scene.y, scene.clock());
    latest.paint(frame, origin, view);
    for (const QRect& part : around(frame.rect(), view.translated(origin)))
        fillPart(frame, part, surface);
    if (latest.covered() == view)
        return;
    const ScaledPicture overview(store.overview(scene.mode), scene.x, scene.y, scene.clock());
    for (const QRect& part : around(view, latest.covered())) {
        overview.paint(frame, origin, part);
        for (const QRect& bare : around(part, overview.covered()))
            fillPart(frame, bare.translated(origin), surface);
    }
}

void paintUnderCurves(QPainter& painter, const CanvasScene& scene)
{
    if (scene.mode == PictureMode::Blocks)
        paintStripGroups(painter, scene);
    paintAxes(painter, scene);
}

void paintOverCurves(QPainter& painter, CanvasScene& scene)
{
    paintDriver(painter, scene);
    paintMarks(painter, scene);
    scene.notePlaces = placeNotes(scene);
    paintNotes(painter, scene);
    paintCurveLabels(painter, scene);
    paintAnnotations(painter, scene);
}

} // namespace

void paintFrame(QImage& frame, CanvasScene& scene, const PictureStore& store)
{
    paintPictures(frame, scene, store, scene.colour(Palette::Role::Surface).rgb());
    {
        QPainter painter(&frame);
        paintUnderCurves(painter, scene);
    }
    paintCurves(frame, scene);
    QPainter painter(&frame);
    paintOverCurves(painter, scene);
}

void paintFrameVectors(
    QPainter& painter, CanvasScene& scene, const PictureStore& store, const GroupStyles& styles)
{
    if (scene.mode == PictureMode::Stacked && store.stacked() && store.detailed())
        paintStackedVectors(painter, scene, store.stacked()->picture, styles);
    else if (!store.latest(scene.mode).isNull())
        painter.drawImage(scene.layout.picture, store.latest(scene.mode).image);
    paintUnderCurves(painter, scene);
    paintCurves(painter, scene);
    paintOverCurves(painter, scene);
}

} // namespace strata::views
