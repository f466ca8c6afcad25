// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/overlay_painter.h"

#include "views/style/texts.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

/// Where a text on the axis stands: under its place, within the canvas, beside `other` rather than over it.
QRectF axisTagPlace(const CanvasScene& scene, double centre, const QString& text, const QRectF& other)
{
    const QFontMetricsF metrics(scene.axisFont());
    const double width = std::ceil(metrics.horizontalAdvance(text)) + 12;
    const double end = scene.layout.labels.right() + 1.0 - width;
    QRectF place(std::round(std::clamp(centre - width / 2, 0.0, std::max(0.0, end))),
        scene.layout.axis.top() + 5, width, metrics.height() + 4);
    if (!place.intersects(other))
        return place;
    const double right = other.right() + 2, left = other.left() - 2 - width;
    place.moveLeft((centre >= other.center().x() && right <= end) || left < 0 ? right : left);
    return place;
}

void paintAxisTag(QPainter& painter, const CanvasScene& scene, const QRectF& place, const QString& text,
    Palette::Role ground, Palette::Role ink)
{
    painter.setFont(scene.axisFont());
    painter.fillRect(place, scene.colour(ground));
    painter.setPen(scene.colour(ink));
    painter.drawText(place, Qt::AlignCenter, text);
}

QRectF columnsOf(const CanvasScene& scene, double from, double to)
{
    const CanvasLayout& layout = scene.layout;
    const double left = std::clamp(from, double(layout.left()), double(layout.left() + layout.width()));
    const double right = std::clamp(to, double(layout.left()), double(layout.left() + layout.width()));
    return { left, double(layout.curves.top()), right - left,
        double(layout.axis.top() - layout.curves.top()) };
}

/// Gives back where its text stands on the axis.
QRectF paintSelection(QPainter& painter, const CanvasScene& scene, const EventRange& range)
{
    const QColor accent = scene.colour(Palette::Role::Accent);
    const double from = scene.pointOfEvent(range.first);
    const double to = scene.pointOf(XMapping::endOf(scene.x.axis(), scene.clock(), range.last));
    const double left = scene.layout.left(), right = left + scene.layout.width();
    if (to < left || from > right)
        return {};
    const QRectF band = columnsOf(scene, from, to);
    if (!range.isInstant() || to - from > 3)
        painter.fillRect(band, scene.colour(Palette::Role::Selection));
    if (from >= left - 0.5)
        painter.fillRect(
            QRectF(std::floor(band.left()), band.top(), range.isInstant() ? 2 : 1, band.height()), accent);
    if (!range.isInstant() && to <= right + 0.5)
        painter.fillRect(QRectF(std::floor(band.right()) - 1, band.top(), 1, band.height()), accent);
    const QString text = range.isInstant()
        ? text::event(range.first)
        : QObject::tr("events %1 – %2").arg(text::count(range.first), text::count(range.last));
    const QRectF place = axisTagPlace(scene, band.center().x(), text, {});
    paintAxisTag(painter, scene, place, text, Palette::Role::Accent, Palette::Role::AccentText);
    return place;
}

void paintPinnedBlock(QPainter& painter, const CanvasScene& scene, const Hit& pinned)
{
    const std::optional<Extent> extent = extentOf(scene, nullptr, pinned);
    if (!extent || !extent->y)
        return;
    const QRect& area = scene.layout.picture;
    const double left = std::max(scene.pointOf(extent->x.begin), area.left() - 2.0);
    const double right = std::min(scene.pointOf(extent->x.end), area.right() + 3.0);
    const double top = std::max(area.top() + scene.y.rowOf(extent->y->end) / scene.ratio, area.top() - 2.0);
    const double bottom
        = std::min(area.top() + scene.y.rowOf(extent->y->begin) / scene.ratio, area.bottom() + 3.0);
    if (right <= left || bottom <= top)
        return;
    const QRectF box
        = QRectF(left, top, std::max(right - left, 3.0), std::max(bottom - top, 3.0)).adjusted(-2, -2, 2, 2);
    painter.save();
    painter.setClipRect(area.adjusted(-2, -2, 2, 2));
    const auto ring = [&](const QRectF& r, double width, const QColor& colour) {
        painter.fillRect(QRectF(r.left(), r.top(), r.width(), width), colour);
        painter.fillRect(QRectF(r.left(), r.bottom() - width, r.width(), width), colour);
        painter.fillRect(QRectF(r.left(), r.top(), width, r.height()), colour);
        painter.fillRect(QRectF(r.right() - width, r.top(), width, r.height()), colour);
    };
    ring(box.adjusted(-1, -1, 1, 1), 4, scene.colour(Palette::Role::Surface));
    ring(box, 2, scene.colour(Palette::Role::Text));
    painter.restore();
}

void paintCrosshair(
    QPainter& painter, const CanvasScene& scene, const CanvasOverlay& overlay, const QRectF& taken)
{
    QColor line = scene.colour(Palette::Role::Text);
    line.setAlpha(120);
    const double x = std::floor(overlay.mouse->x());
    painter.fillRect(
        QRectF(x, scene.layout.curves.top(), 1, scene.layout.axis.top() - scene.layout.curves.top()), line);
    const bool inPicture = QRectF(scene.layout.picture).contains(*overlay.mouse);
    if (inPicture && scene.mode == PictureMode::Stacked) {
        const double y = std::floor(overlay.mouse->y());
        painter.fillRect(QRectF(scene.layout.left(), y, scene.layout.width(), 1), line);
        const double bytes = scene.y.bytesAt((overlay.mouse->y() - scene.layout.picture.top()) * scene.ratio);
        painter.setFont(scene.axisFont());
        const QFontMetricsF metrics(scene.axisFont());
        const QString text = text::bytes(static_cast<std::int64_t>(bytes));
        const double width = metrics.horizontalAdvance(text) + 12;
        const QRectF place(
            scene.layout.left() - 2 - width, y - metrics.height() / 2 - 2, width, metrics.height() + 4);
        painter.fillRect(place, scene.colour(Palette::Role::Tooltip));
        painter.setPen(scene.colour(Palette::Role::TooltipText));
        painter.drawText(place, Qt::AlignCenter, text);
    }
    if (scene.hasEvents()) {
        const QString text = instantText(scene, overlay.hover);
        paintAxisTag(painter, scene, axisTagPlace(scene, overlay.mouse->x(), text, taken), text,
            Palette::Role::Tooltip, Palette::Role::TooltipText);
    }
}

void paintCard(QPainter& painter, const CanvasScene& scene, const HoverCard& card,
    const std::optional<FillStyle>& swatch, QPointF at, QSize canvas)
{
    if (card.title.isEmpty())
        return;
    constexpr double kPadding = 8, kSwatch = 12;
    QFont strong = scene.font;
    strong.setBold(true);
    const QFontMetricsF body(scene.font), bold(strong), small(scene.axisFont());
    const double indent = swatch ? kSwatch + 6 : 0;
    const double titleWidth = bold.horizontalAdvance(card.title);
    double width = indent + titleWidth + (card.name.isEmpty() ? 0 : 8 + body.horizontalAdvance(card.name));
    for (const QString& line : card.lines)
        width = std::max(width, small.horizontalAdvance(line));
    const double lineHeight = small.height() + 2;
    const QSizeF size(std::ceil(width + 2 * kPadding),
        std::ceil(bold.height() + 2 + double(card.lines.size()) * lineHeight + 2 * kPadding - 2));
    const QRectF place = hoverPlace(at, size, canvas);

    painter.fillRect(place, scene.colour(Palette::Role::Tooltip));
    double x = place.left() + kPadding, y = place.top() + kPadding;
    if (swatch) {
        const QRectF box(x, y + (bold.height() - kSwatch) / 2, kSwatch, kSwatch);
        painter.fillRect(box.adjusted(-1, -1, 1, 1), scene.colour(Palette::Role::Surface));
        painter.setBrushOrigin(box.topLeft());
        painter.fillRect(box, swatch->brush(std::max(static_cast<int>(scene.ratio), 1)));
        painter.setBrushOrigin(0, 0);
        x += indent;
    }
    painter.setPen(scene.colour(Palette::Role::TooltipText));
    painter.setFont(strong);
    painter.drawText(
        QRectF(x, y, titleWidth + 2, bold.height()), Qt::AlignLeft | Qt::AlignVCenter, card.title);
    painter.setFont(scene.font);
    painter.drawText(QRectF(x + titleWidth + 8, y, place.right() - x - titleWidth - 8, bold.height()),
        Qt::AlignLeft | Qt::AlignVCenter, card.name);
    painter.setFont(scene.axisFont());
    y += bold.height() + 2;
    for (const QString& line : card.lines) {
        painter.drawText(QRectF(place.left() + kPadding, y, place.width() - kPadding, lineHeight),
            Qt::AlignLeft | Qt::AlignVCenter, line);
        y += lineHeight;
    }
}

} // namespace

QRectF hoverPlace(QPointF mouse, QSizeF label, QSizeF canvas)
{
    constexpr double kOffset = 16;
    double x = mouse.x() + kOffset, y = mouse.y() + kOffset;
    if (x + label.width() > canvas.width())
        x = mouse.x() - kOffset - label.width();
    if (y + label.height() > canvas.height())
        y = mouse.y() - kOffset - label.height();
    x = std::clamp(x, 0.0, std::max(0.0, canvas.width() - label.width()));
    y = std::clamp(y, 0.0, std::max(0.0, canvas.height() - label.height()));
    return { QPointF(std::round(x), std::round(y)), label };
}

void paintOverlay(QPainter& painter, const CanvasScene& scene, const CanvasOverlay& overlay, QSize canvas)
{
    QRectF selectionTag;
    if (overlay.selection && scene.hasEvents())
        selectionTag = paintSelection(painter, scene, *overlay.selection);
    if (overlay.pinned && overlay.pinned->kind == Hit::Kind::Block && scene.mode == PictureMode::Blocks)
        paintPinnedBlock(painter, scene, *overlay.pinned);
    if (overlay.drag) {
        const auto [from, to] = std::minmax(overlay.drag->first, overlay.drag->second);
        const QRectF band = columnsOf(scene, from, to);
        painter.fillRect(band, scene.colour(Palette::Role::Selection));
        for (const double edge : { band.left(), band.right() - 1 })
            painter.fillRect(
                QRectF(std::floor(edge), band.top(), 1, band.height()), scene.colour(Palette::Role::Accent));
    }
    if (overlay.focused) {
        const QRectF box = QRectF(QPointF(0, 0), canvas);
        const QColor accent = scene.colour(Palette::Role::Accent);
        painter.fillRect(QRectF(0, 0, box.width(), 2), accent);
        painter.fillRect(QRectF(0, box.height() - 2, box.width(), 2), accent);
        painter.fillRect(QRectF(0, 0, 2, box.height()), accent);
        painter.fillRect(QRectF(box.width() - 2, 0, 2, box.height()), accent);
    }
    if (overlay.mouse && overlay.hover.onTimeAxis() && !overlay.drag) {
        paintCrosshair(painter, scene, overlay, selectionTag);
        paintCard(painter, scene, overlay.card, overlay.swatch, *overlay.mouse, canvas);
    } else if (overlay.pinned && overlay.pinned->kind == Hit::Kind::Note && !overlay.drag) {
        for (const NotePlace& place : scene.notePlaces)
            if (place.note == overlay.pinned->note)
                paintCard(painter, scene, overlay.pinnedCard, {}, place.mark.center(), canvas);
    }
}

} // namespace strata::views
