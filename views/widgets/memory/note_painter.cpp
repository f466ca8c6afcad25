// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_scene.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

/// A pin that stands on the foot of the picture: a pole and a flag beside it.
void paintFlag(QPainter& painter, const NotePlace& place, const QColor& colour, const QColor& ground)
{
    const double pole = place.from, top = place.mark.top(), foot = place.mark.bottom();
    const double side = place.turned ? -1 : 1, edge = place.turned ? pole : pole + 2;
    // On a ground of its own: it stands on whatever colours the picture has there.
    painter.fillRect(place.mark.adjusted(-1, -1, 1, -3), ground);
    painter.fillRect(QRectF(pole - 1, foot - 3, 4, 3), ground);
    painter.fillRect(QRectF(pole, top, 2, foot - top), colour);
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(QPolygonF({ { edge, top }, { edge + side * 8, top + 3.5 }, { edge, top + 7 } }));
    painter.restore();
}

void paintBar(QPainter& painter, const NotePlace& place, const QColor& colour, const QColor& ground)
{
    const double foot = place.mark.bottom(), length = place.to - place.from;
    painter.fillRect(QRectF(place.from, foot - 4, length, 4), ground);
    painter.fillRect(QRectF(place.from, foot - 3, length, 3), colour);
    for (const double edge : { place.from, place.to - 1 })
        painter.fillRect(QRectF(std::floor(edge), foot - 8, 1, 8), colour);
}

} // namespace

void paintNotes(QPainter& painter, const CanvasScene& scene)
{
    if (scene.notePlaces.empty())
        return;
    const QColor colour = scene.colour(Palette::Role::Text);
    QColor ground = scene.colour(Palette::Role::Surface);
    ground.setAlpha(215);
    // What leads from a mark to its label in an upper row lies under the labels of the lower ones.
    for (const NotePlace& place : scene.notePlaces) {
        if (place.text.isEmpty())
            continue;
        const double x = place.range ? std::floor(place.mark.center().x()) : place.from;
        const double from = place.label.bottom(), to = place.mark.top();
        if (x >= place.label.left() && x <= place.label.right() && to - from > 4) {
            painter.fillRect(QRectF(x - 1, from, 3, to - from), ground);
            painter.fillRect(QRectF(x, from, 1, to - from), colour);
        }
    }
    painter.setFont(scene.axisFont());
    painter.setPen(colour);
    for (const NotePlace& place : scene.notePlaces) {
        if (place.text.isEmpty())
            continue;
        painter.fillRect(place.label, ground);
        painter.drawText(place.label, Qt::AlignCenter | Qt::TextSingleLine, place.text);
    }
    for (const NotePlace& place : scene.notePlaces)
        if (place.range)
            paintBar(painter, place, colour, ground);
    // Flags at the same pixel look like one.
    std::vector<bool> painted(static_cast<std::size_t>(std::max(scene.layout.width(), 0)) + 2);
    for (const NotePlace& place : scene.notePlaces) {
        const auto column = static_cast<std::size_t>(std::max(place.from - scene.layout.left(), 0.0));
        if (place.range || column >= painted.size() || painted[column])
            continue;
        painted[column] = true;
        paintFlag(painter, place, colour, ground);
    }
}

} // namespace strata::views
