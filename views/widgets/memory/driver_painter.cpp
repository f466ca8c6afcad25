// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_scene.h"

#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

constexpr double kNear = 6; // points: readings of the same height that are nearer are shown as one

} // namespace

void paintReading(QPainter& painter, const CanvasScene& scene, QPointF at)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(scene.colour(Palette::Role::TextMuted), 1.5));
    painter.setBrush(scene.colour(Palette::Role::Surface));
    painter.drawEllipse(at, 2.5, 2.5);
    painter.restore();
}

std::optional<std::int64_t> driverBytesAt(const CanvasScene& scene, model::EventIndex event)
{
    const auto& points = scene.driver().points;
    const auto after = std::upper_bound(points.begin(), points.end(), event,
        [](model::EventIndex at, const model::DriverPoint& point) { return at + 1 < point.event; });
    return after == points.begin() ? std::nullopt : std::optional(std::prev(after)->bytes);
}

void paintDriver(QPainter& painter, const CanvasScene& scene)
{
    const QRectF area = scene.layout.curves;
    QPointF last(-1e9, -1e9);
    for (const model::DriverPoint& point : scene.driver().points) {
        const QPointF at(scene.pointOfEvent(point.event), scene.curvePoint(point.bytes));
        const bool isNear = at.x() - last.x() < kNear && std::abs(at.y() - last.y()) < 1;
        if (isNear || !area.contains(at))
            continue;
        paintReading(painter, scene, at);
        last = at;
    }
}

} // namespace strata::views
