// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/label_places.h"
#include "views/widgets/memory/ticks.h"

#include <QFontMetricsF>
#include <QPainter>

#include <cmath>

namespace strata::views {

namespace {

constexpr int kTickRoom = 36; // points between gridlines, at least
constexpr int kTickMark = 4;

void paintByteScale(QPainter& painter, const CanvasScene& scene, const QRect& area, const YMapping& y)
{
    QColor grid = scene.colour(Palette::Role::TextMuted);
    grid.setAlpha(56);
    const QFontMetricsF metrics(scene.axisFont());
    for (const Tick& tick : byteTicks(y.view(), std::max(area.height() / kTickRoom, 2))) {
        const double row = area.top() + y.rowOf(tick.value) / scene.ratio;
        if (row < area.top() - 1 || row > area.bottom() + 2)
            continue;
        const int line = std::min(static_cast<int>(std::floor(row)), area.bottom());
        if (tick.value != 0)
            painter.fillRect(area.left(), line, area.width(), 1, grid);
        painter.fillRect(area.left() - kTickMark, line, kTickMark, 1, scene.colour(Palette::Role::Line));
        painter.setPen(scene.colour(Palette::Role::TextMuted));
        const QRectF place(0, row - metrics.height() / 2, area.left() - 8, metrics.height());
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, tick.label);
    }
}

void paintEventScale(QPainter& painter, const CanvasScene& scene)
{
    const QRect& axis = scene.layout.axis;
    const QFontMetricsF metrics(scene.axisFont());
    painter.setPen(scene.colour(Palette::Role::TextMuted));
    const double nameWidth = metrics.horizontalAdvance(QStringLiteral("events"));
    painter.drawText(QRectF(axis.right() + 9, axis.top() + 8, nameWidth + 8, metrics.height()), Qt::AlignLeft,
        scene.x.axis() == model::Axis::Events ? QObject::tr("events") : QObject::tr("time"));

    // As many ticks as their own widest label allows.
    int most = std::max(axis.width() / 64, 1);
    std::vector<Tick> ticks;
    for (; most >= 1; most = most * 3 / 4) {
        ticks = axisTicks(scene.x.axis(), scene.x.view(), most);
        double widest = 0;
        for (const Tick& tick : ticks)
            widest = std::max(widest, metrics.horizontalAdvance(tick.label));
        if (ticks.size() < 2
            || (ticks[1].value - ticks[0].value) / scene.x.view().width() * axis.width() >= widest + 24)
            break;
    }
    for (const Tick& tick : ticks) {
        const double at = scene.pointOf(tick.value);
        if (at < axis.left() - 0.5 || at > axis.right() + 1)
            continue;
        painter.fillRect(static_cast<int>(std::floor(at)), axis.top(), 1, kTickMark,
            scene.colour(Palette::Role::TextMuted));
        const double width = metrics.horizontalAdvance(tick.label) + 2;
        painter.drawText(
            QRectF(at - width / 2, axis.top() + 8, width, metrics.height()), Qt::AlignHCenter, tick.label);
    }
}

} // namespace

void paintAxes(QPainter& painter, const CanvasScene& scene)
{
    painter.setFont(scene.axisFont());
    paintByteScale(painter, scene, scene.layout.curves, scene.curveY);
    const QColor line = scene.colour(Palette::Role::Line);
    const auto frame = [&](const QRect& area) {
        painter.fillRect(area.left() - 1, area.top(), 1, area.height() + 1, line);
        painter.fillRect(area.left() - 1, area.bottom() + 1, area.width() + 1, 1, line);
    };
    frame(scene.layout.curves);
    if (scene.mode == PictureMode::Blocks)
        frame(scene.layout.picture);
    if (scene.hasEvents()) {
        painter.fillRect(
            scene.layout.axis.left() - 1, scene.layout.axis.top(), scene.layout.axis.width() + 1, 1, line);
        paintEventScale(painter, scene);
    }
}

} // namespace strata::views
