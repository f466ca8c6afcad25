// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/thread_names.h"
#include "views/style/elided_name.h"
#include "views/style/texts.h"
#include "views/widgets/memory/canvas_scene.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

struct Place {
    double left, right;
};

Place placeOf(const CanvasScene& scene, const model::AnnotationSpan& span)
{
    if (scene.x.axis() == model::Axis::Time)
        return { scene.pointOf(static_cast<double>(span.beginNs)),
            scene.pointOf(static_cast<double>(span.endNs)) };
    // On the event axis it holds the events after its beginning, up to its last.
    return { scene.pointOf(static_cast<double>(span.first + 1)),
        scene.pointOf(static_cast<double>(span.last + 1)) };
}

/// The spans of one level, and the first of them that ends right of the view's left edge.
std::pair<const model::AnnotationSpan*, const model::AnnotationSpan*> visibleSpans(
    const CanvasScene& scene, int level)
{
    const auto& all = scene.annotations();
    const auto [first, last]
        = std::equal_range(all.begin(), all.end(), model::AnnotationSpan{ .level = level },
            [](const auto& a, const auto& b) { return a.level < b.level; });
    const double edge = scene.layout.left();
    const auto begin = std::partition_point(
        first, last, [&](const model::AnnotationSpan& span) { return placeOf(scene, span).right < edge; });
    return { all.data() + (begin - all.begin()), all.data() + (last - all.begin()) };
}

void paintLevel(QPainter& painter, const CanvasScene& scene, int row, int level)
{
    const QRect& area = scene.layout.annotations;
    const int top = area.top() + row * CanvasLayout::kAnnotationRow;
    const int height = CanvasLayout::kAnnotationRow - 1;
    const QFontMetricsF metrics(scene.axisFont());
    const QColor ground = scene.colour(Palette::Role::Hover);
    const QColor edge = scene.colour(Palette::Role::TextMuted);
    const auto [first, last] = visibleSpans(scene, level);
    double painted = area.left() - 1.0; // right edge of what is drawn: one rectangle a pixel is enough
    const double pixel = 1 / scene.ratio;
    for (const model::AnnotationSpan* span = first; span != last; ++span) {
        // On to the first that shows a pixel of its own: the cost is that of the pixels, not of the spans.
        span = std::partition_point(span, last, [&](const model::AnnotationSpan& s) {
            return placeOf(scene, s).right + pixel <= painted + pixel / 2;
        });
        if (span == last)
            break;
        Place place = placeOf(scene, *span);
        if (place.left > area.right() + 1)
            break;
        place.right = std::max(place.right, place.left + pixel);
        const double left = std::max(place.left, double(area.left()));
        const double right = std::min(place.right, area.right() + 1.0);
        painter.fillRect(QRectF(left, top, right - left, height), ground);
        if (place.left >= area.left())
            painter.fillRect(QRectF(left, top, pixel, height), edge);
        painted = right;
        if (right - left >= 24) {
            const QString name = text::utf8(span->name);
            const QString text = elidedName(metrics, name, right - left - 8);
            if (text.size() > 1 || name.endsWith(text)) {
                painter.setPen(scene.colour(Palette::Role::Text));
                painter.drawText(
                    QRectF(left + 5, top, right - left - 6, height), Qt::AlignVCenter | Qt::AlignLeft, text);
            }
        }
    }
}

} // namespace

QString threadText(const model::Recording& recording, std::uint32_t thread)
{
    const std::string name = model::threadName(recording, thread);
    return name.empty() ? QObject::tr("thread %1").arg(thread) : text::utf8(name);
}

QString hiddenRowsText(const AnnotationRows& rows)
{
    const QString lanes
        = QObject::tr("%n more lane(s) of annotations find no room here", nullptr, rows.hiddenLevels);
    return rows.hiddenThreads > 0
        ? QObject::tr("%1, all those of %n thread(s) among them", nullptr, rows.hiddenThreads).arg(lanes)
        : lanes;
}

void paintAnnotations(QPainter& painter, const CanvasScene& scene)
{
    const QRect& area = scene.layout.annotations;
    if (area.isEmpty())
        return;
    painter.setFont(scene.axisFont());
    const QFontMetricsF metrics(scene.axisFont());
    const AnnotationRows& rows = scene.annotationRows;
    const auto rowRect = [&](int row, int left, int width) {
        return QRectF(
            left, area.top() + row * CanvasLayout::kAnnotationRow, width, CanvasLayout::kAnnotationRow);
    };
    for (int row = 0; row < static_cast<int>(rows.rows.size()); ++row) {
        const AnnotationRows::Row& shown = rows.rows[static_cast<std::size_t>(row)];
        if (shown.firstOfThread) {
            const QString label = rows.severalThreads ? threadText(scene.recording(), shown.thread)
                                                      : QObject::tr("annotations");
            painter.setPen(scene.colour(Palette::Role::TextMuted));
            painter.drawText(rowRect(row, 0, area.left() - 8), Qt::AlignRight | Qt::AlignVCenter,
                metrics.elidedText(label, Qt::ElideMiddle, area.left() - 12));
        }
        paintLevel(painter, scene, row, shown.level);
    }
    if (rows.hiddenLevels > 0) {
        painter.setPen(scene.colour(Palette::Role::TextMuted));
        painter.drawText(rowRect(static_cast<int>(rows.rows.size()), area.left(), area.width()),
            Qt::AlignLeft | Qt::AlignVCenter,
            metrics.elidedText(hiddenRowsText(rows), Qt::ElideRight, area.width()));
    }
}

const model::AnnotationSpan* annotationAt(const CanvasScene& scene, QPointF point)
{
    const QRect& area = scene.layout.annotations;
    if (!QRectF(area).contains(point))
        return nullptr;
    const int level = scene.annotationRows.levelAt(
        static_cast<int>(point.y() - area.top()) / CanvasLayout::kAnnotationRow);
    if (level < 0)
        return nullptr;
    const auto [first, last] = visibleSpans(scene, level);
    for (const model::AnnotationSpan* span = first; span != last; ++span) {
        const Place place = placeOf(scene, *span);
        if (place.left > point.x())
            break;
        if (point.x() <= place.right)
            return span;
    }
    return nullptr;
}

void paintStripGroups(QPainter& painter, const CanvasScene& scene)
{
    const QRect& area = scene.layout.picture;
    painter.setFont(scene.axisFont());
    const QFontMetricsF metrics(scene.axisFont());
    double free = area.bottom() + 1; // rows above this are not yet named; groups come from the ground up
    for (std::size_t i = 0; i < scene.strips.size(); ++i) {
        const StripGroup& group = scene.strips[i];
        const double top
            = area.top() + scene.y.rowOf(static_cast<double>(group.y + group.bytes)) / scene.ratio;
        const double bottom = area.top() + scene.y.rowOf(static_cast<double>(group.y)) / scene.ratio;
        if (bottom <= area.top() || top >= area.bottom() + 1)
            continue;
        if (i + 1 < scene.strips.size() && top > area.top())
            painter.fillRect(QRectF(area.left() - 8, std::floor(top), area.width() + 8, 2),
                scene.colour(Palette::Role::Surface));
        const double seenTop = std::max(top, double(area.top())),
                     seenBottom = std::min(bottom, area.bottom() + 1.0);
        const bool two = !group.streamName.isEmpty();
        const double height = metrics.height() * (two ? 2 : 1);
        double middle = (seenTop + seenBottom) / 2;
        if (seenBottom - seenTop < metrics.height() || middle + height / 2 > free)
            continue;
        const bool both = two && seenBottom - seenTop >= height;
        const double room = area.left() - 16;
        double y = middle - (both ? height : metrics.height()) / 2;
        free = y - 2;
        painter.fillRect(QRectF(area.left() - 4, seenTop + 3, 1, seenBottom - seenTop - 4),
            scene.colour(Palette::Role::TextMuted));
        painter.setPen(scene.colour(Palette::Role::Text));
        painter.drawText(QRectF(0, y, area.left() - 8, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
            metrics.elidedText(group.poolName, Qt::ElideMiddle, room));
        if (both) {
            painter.setPen(scene.colour(Palette::Role::TextMuted));
            painter.drawText(QRectF(0, y + metrics.height(), area.left() - 8, metrics.height()),
                Qt::AlignRight | Qt::AlignVCenter,
                metrics.elidedText(group.streamName, Qt::ElideMiddle, room));
        }
    }
}

} // namespace strata::views
