// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/axis_painter.h"

#include "views/widgets/axis/ticks.h"

#include <QCoreApplication>
#include <QFontMetricsF>
#include <QPainter>

#include <cmath>

namespace strata::views {

namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(Axis)
};

constexpr int kTickRoom = 36; // points between gridlines, at least
constexpr int kTickMark = 4;
constexpr int kGridAlpha = 56;
constexpr int kNameGap = 8; // before the name of an axis, at least
constexpr double kLabelGap = 6; // between a label that was moved and the one before it, at least

/// As many as their own widest label allows.
std::vector<Tick> ticksThatFit(const XMapping& x, int width, const QFontMetricsF& metrics)
{
    std::vector<Tick> ticks;
    for (int most = std::max(width / 64, 1); most >= 1; most = most * 3 / 4) {
        ticks = axisTicks(x.axis(), x.view(), most);
        double widest = 0;
        for (const Tick& tick : ticks)
            widest = std::max(widest, metrics.horizontalAdvance(tick.label));
        if (ticks.size() < 2 || (ticks[1].value - ticks[0].value) / x.view().width() * width >= widest + 24)
            break;
    }
    return ticks;
}

} // namespace

void paintByteAxis(QPainter& painter, const AxisLook& look, const QRect& area, const YMapping& y)
{
    QColor grid = look.text;
    grid.setAlpha(kGridAlpha);
    painter.setFont(look.font);
    const QFontMetricsF metrics(look.font);
    for (const Tick& tick : scaleTicks(y.view(), std::max(area.height() / kTickRoom, 2))) {
        const double row = area.top() + y.rowOf(tick.value) / look.ratio;
        if (row < area.top() - 1 || row > area.bottom() + 2)
            continue;
        const int line = std::min(static_cast<int>(std::floor(row)), area.bottom());
        if (tick.value != 0)
            painter.fillRect(area.left(), line, area.width(), 1, grid);
        painter.fillRect(area.left() - kTickMark, line, kTickMark, 1, look.line);
        painter.setPen(look.text);
        const QRectF place(0, row - metrics.height() / 2, area.left() - 8, metrics.height());
        painter.drawText(place, Qt::AlignRight | Qt::AlignVCenter, tick.label);
    }
}

void paintEventAxis(QPainter& painter, const AxisLook& look, const QRect& strip, const XMapping& x, int end)
{
    painter.fillRect(strip.left() - 1, strip.top(), strip.width() + 1, 1, look.line);
    painter.setFont(look.font);
    const QFontMetricsF metrics(look.font);
    painter.setPen(look.text);
    double nameLeft = strip.right() + kNameGap + 1.0, before = -kLabelGap;
    for (const Tick& tick : ticksThatFit(x, strip.width(), metrics)) {
        const double at = strip.left() + x.columnOf(tick.value) / look.ratio;
        if (at < strip.left() - 0.5 || at > strip.right() + 1)
            continue;
        painter.fillRect(static_cast<int>(std::floor(at)), strip.top(), 1, kTickMark, look.text);
        const double width = metrics.horizontalAdvance(tick.label) + 2;
        const double left = std::min(at - width / 2, end - width);
        if (left < at - width / 2 && left < before + kLabelGap)
            continue; // moved, it would touch the one before it
        painter.drawText(
            QRectF(left, strip.top() + 8, width, metrics.height()), Qt::AlignHCenter, tick.label);
        before = left + width;
        nameLeft = std::max(nameLeft, before + kNameGap);
    }
    const QString name = x.axis() == model::Axis::Events ? Words::tr("events") : Words::tr("time");
    painter.drawText(QRectF(nameLeft, strip.top() + 8, metrics.horizontalAdvance(name) + 8, metrics.height()),
        Qt::AlignLeft, name);
}

void paintAxisFrame(QPainter& painter, const AxisLook& look, const QRect& area)
{
    painter.fillRect(area.left() - 1, area.top(), 1, area.height() + 1, look.line);
    painter.fillRect(area.left() - 1, area.bottom() + 1, area.width() + 1, 1, look.line);
}

} // namespace strata::views
