// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/timeline/reserved_at.h"
#include "views/style/texts.h"
#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/label_places.h"

#include <QFontMetricsF>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

constexpr int kDash = 6, kDashGap = 4;

void paintDashes(QPainter& painter, QRect line, const QColor& colour)
{
    const bool across = line.width() > line.height();
    const int end = across ? line.right() + 1 : line.bottom() + 1;
    for (int at = across ? line.left() : line.top(); at < end; at += kDash + kDashGap) {
        const int length = std::min(kDash, end - at);
        if (across)
            painter.fillRect(at, line.top(), length, line.height(), colour);
        else
            painter.fillRect(line.left(), at, line.width(), length, colour);
    }
}

void paintShape(QPainter& painter, const QPolygonF& shape, const QColor& colour)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawPolygon(shape);
    painter.restore();
}

/// Text on a ground of the surface's colour, moved sideways to stay within [left, right].
QRectF labelPlace(
    const QFontMetricsF& metrics, const QString& text, double centre, double top, double left, double right)
{
    const double width = metrics.horizontalAdvance(text) + 8;
    const double x = std::clamp(centre - width / 2, left, std::max(left, right - width));
    return { x, top, width, metrics.height() };
}

void paintLabel(QPainter& painter, const CanvasScene& scene, const QRectF& place, const QString& text,
    const QColor& colour)
{
    QColor ground = scene.colour(Palette::Role::Surface);
    ground.setAlpha(215);
    painter.fillRect(place, ground);
    painter.setPen(colour);
    painter.drawText(place, Qt::AlignCenter, text);
}

bool isInCurves(const CanvasScene& scene, double row)
{
    return row >= scene.layout.curves.top() && row <= scene.layout.curves.bottom();
}

void paintCapacity(QPainter& painter, const CanvasScene& scene)
{
    if (!scene.device->summary->capacity)
        return;
    const double row = scene.curvePoint(scene.device->summary->capacity->bytes);
    if (!isInCurves(scene, row))
        return;
    const QRect& area = scene.layout.curves;
    paintDashes(painter, { area.left(), static_cast<int>(row), area.width(), 2 },
        scene.colour(Palette::Role::Warning));
}

void paintOutOfMemory(QPainter& painter, const CanvasScene& scene)
{
    const auto& events = scene.device->summary->outOfMemory;
    if (events.empty())
        return;
    const QFontMetricsF metrics(scene.axisFont());
    const QColor bad = scene.colour(Palette::Role::Bad);
    const QRect area = scene.layout.plot();
    const QString text = QObject::tr("out of memory");
    std::vector<std::pair<double, double>> extents;
    std::vector<QRectF> places;
    double previous = -10;
    // The last one first: it is the one that ended the run.
    for (auto it = events.rbegin(); it != events.rend(); ++it) {
        const double x = scene.pointOfEvent(it->event);
        if (x < area.left() - 1 || x > area.right() + 1 || std::abs(x - previous) < 1)
            continue;
        previous = x;
        const int column = std::min(static_cast<int>(std::floor(x)), area.right());
        paintDashes(painter, { column, area.top(), 1, area.height() }, bad);
        // A cross on top of the line.
        const QPointF c(column + 0.5, area.top() - 5);
        for (const double slant : { 1.0, -1.0 })
            paintShape(painter,
                QPolygonF({ c + QPointF(-4, -4 * slant - 1), c + QPointF(4, 4 * slant - 1),
                    c + QPointF(4, 4 * slant + 1), c + QPointF(-4, -4 * slant + 1) }),
                bad);
        const double width = metrics.horizontalAdvance(text);
        const bool leftward = column + 8 + width > area.right();
        const QRectF place(leftward ? column - 8 - width : column + 8, area.top() - 5 - metrics.height() / 2,
            width, metrics.height());
        places.push_back(place);
        extents.emplace_back(place.left(), place.right());
    }
    const std::vector<bool> fits = labelsThatFit(extents, 0, scene.layout.labels.right(), 20);
    painter.setPen(bad);
    for (std::size_t i = 0; i < places.size(); ++i)
        if (fits[i])
            painter.drawText(places[i], Qt::AlignVCenter | Qt::AlignLeft, text);
}

void paintPeak(QPainter& painter, const CanvasScene& scene)
{
    const auto& columns = scene.curves.requested;
    const auto peak = std::max_element(columns.begin(), columns.end(),
        [](const model::CurveRange& a, const model::CurveRange& b) { return a.max < b.max; });
    if (peak == columns.end() || peak->max <= 0)
        return;
    const QRect& area = scene.layout.curves;
    const double y = scene.curvePoint(peak->max);
    if (y < area.top() - 1 || y > area.bottom() + 1)
        return;
    const double x = area.left() + (static_cast<double>(peak - columns.begin()) + 0.5) / scene.ratio;
    const bool whole = peak->max == scene.device->trace->totals().requestedBytesPeak;
    const QString text
        = (whole ? QObject::tr("peak %1") : QObject::tr("peak in view %1")).arg(text::bytes(peak->max));
    const QColor colour = scene.colour(Palette::Role::Text);
    paintShape(painter, QPolygonF({ { x - 5, y - 9 }, { x + 5, y - 9 }, { x, y - 2 } }), colour);
    const QFontMetricsF metrics(scene.axisFont());
    const QRectF place
        = labelPlace(metrics, text, x, y - 11 - metrics.height(), area.left(), area.right() + 1);
    paintLabel(painter, scene, place, text, colour);
}

/// A curve's or mark's sample, as it stands before its name.
enum class Sample { Line, Dashes, Ring, Dots, Full, Hollow };

void paintSample(QPainter& painter, const CanvasScene& scene, Sample sample, const QColor& colour, QPointF at)
{
    switch (sample) {
    case Sample::Line:
        painter.fillRect(QRectF(at.x(), at.y() - 1, 12, 2), colour);
        break;
    case Sample::Dashes:
        painter.fillRect(QRectF(at.x(), at.y() - 1, 5, 2), colour);
        painter.fillRect(QRectF(at.x() + 7, at.y() - 1, 5, 2), colour);
        break;
    case Sample::Ring:
        paintReading(painter, scene, at + QPointF(6, 0));
        break;
    case Sample::Dots: {
        painter.setBrushOrigin(at - QPointF(1, 5));
        painter.fillRect(QRectF(at.x(), at.y() - 5, 12, 10), colour);
        painter.fillRect(QRectF(at.x() + 1, at.y() - 4, 10, 8),
            patternBrush(Pattern::Dotted, scene.colour(Palette::Role::Surface), colour,
                std::max(int(scene.ratio), 1)));
        painter.setBrushOrigin(0, 0);
        break;
    }
    case Sample::Full:
    case Sample::Hollow: {
        const QPointF c = at + QPointF(6, 0);
        const auto diamond = [&](double r) {
            return QPolygonF(
                { c + QPointF(-r, 0), c + QPointF(0, -r), c + QPointF(r, 0), c + QPointF(0, r) });
        };
        paintShape(painter, diamond(5), colour);
        if (sample == Sample::Hollow)
            paintShape(painter, diamond(2.6), scene.colour(Palette::Role::Surface));
        break;
    }
    }
}

struct CurveLabel {
    Sample sample;
    QColor colour;
    QString name;
    QString value;
    std::int64_t bytes;
    int priority;
};

/// The instant at the right edge, whose values the labels tell.
model::EventIndex labelledEvent(const CanvasScene& scene)
{
    return model::eventAtPosition(
        scene.x.axis(), scene.clock(), scene.x.view().end - XMapping::narrowest(scene.x.axis()) / 2);
}

/// Of what is drawn.
std::vector<CurveLabel> curveLabels(const CanvasScene& scene)
{
    std::vector<CurveLabel> labels;
    const model::DeviceTimeline& timeline = scene.timeline();
    const model::EventIndex at = labelledEvent(scene);
    const auto add
        = [&](Sample sample, Palette::Role role, const QString& name, std::int64_t bytes, int priority) {
              labels.push_back({ sample, scene.colour(role), name, text::bytes(bytes), bytes, priority });
          };
    if (const auto reserved = model::reservedAt(timeline, at))
        add(Sample::Line, Palette::Role::Reserved, QObject::tr("reserved"), *reserved, 1);
    add(Sample::Line, scene.requestedRole(), QObject::tr("requested"), timeline.requested().at(at), 0);
    const model::Totals& totals = scene.device->trace->totals();
    if (const model::RoundedCurves* const rounded = scene.device->rounded()) {
        const std::int64_t active = rounded->active.at(at), allocated = rounded->allocated.at(at);
        add(Sample::Line, scene.allocatedRole(),
            active == allocated ? QObject::tr("allocated, active") : QObject::tr("allocated"), allocated, 2);
        if (active != allocated)
            add(Sample::Hollow, Palette::Role::Text, QObject::tr("active"), active, 3);
    } else if (at >= scene.device->trace->eventCount() - 1 && totals.endKnown && totals.blocks > 0) {
        const QString active = text::bytes(totals.activeBytesEnd),
                      allocated = text::bytes(totals.allocatedBytesEnd);
        if (active == allocated) {
            add(Sample::Full, Palette::Role::Text, QObject::tr("allocated, active"), totals.allocatedBytesEnd,
                2);
        } else {
            add(Sample::Hollow, Palette::Role::Text, QObject::tr("active"), totals.activeBytesEnd, 3);
            add(Sample::Full, Palette::Role::Text, QObject::tr("allocated"), totals.allocatedBytesEnd, 2);
        }
    }
    if (const auto driver = driverBytesAt(scene, at))
        add(Sample::Ring, Palette::Role::TextMuted,
            scene.driver().ofProcess ? QObject::tr("driver, process") : QObject::tr("driver, all"), *driver,
            6);
    if (const auto& capacity = scene.device->summary->capacity;
        capacity && isInCurves(scene, scene.curvePoint(capacity->bytes)))
        add(Sample::Dashes, Palette::Role::Warning,
            capacity->exact ? QObject::tr("capacity") : QObject::tr("capacity, at least"), capacity->bytes,
            4);
    if (!pendingSpans(scene.curves, scene.curveY).empty()) {
        const std::int64_t pending = timeline.pendingFree().at(at);
        add(Sample::Dots, Palette::Role::PendingFree, QObject::tr("pending free"), pending, 5);
        if (pending <= 0)
            labels.back().value
                = QObject::tr("%1 at most").arg(text::bytes(std::ranges::max(scene.curves.pending)));
    }
    return labels;
}

} // namespace

void paintMarks(QPainter& painter, const CanvasScene& scene)
{
    painter.setFont(scene.axisFont());
    paintCapacity(painter, scene);
    if (!scene.hasEvents())
        return;
    paintOutOfMemory(painter, scene);
    paintPeak(painter, scene);
}

void paintCurveLabels(QPainter& painter, const CanvasScene& scene)
{
    painter.setFont(scene.axisFont());
    const QFontMetricsF metrics(scene.axisFont());
    const QRect& area = scene.layout.labels;
    const std::vector<CurveLabel> labels = curveLabels(scene);
    std::vector<WantedLabel> wanted;
    for (const CurveLabel& label : labels) {
        const double y
            = std::clamp(scene.curvePoint(label.bytes), double(area.top()), double(area.bottom() + 1));
        wanted.push_back({ y, 2 * metrics.height(), label.priority });
    }
    const double first = area.top() - 8;
    const std::vector<double> places = placeLabels(wanted, first, area.bottom() + 8, 4);
    const model::EventIndex at = labelledEvent(scene);
    painter.setPen(scene.colour(Palette::Role::TextMuted));
    painter.drawText(QRectF(area.left() + 12.0, std::max(first - metrics.height() - 2, 0.0),
                         area.width() - 12.0, metrics.height()),
        Qt::AlignLeft | Qt::AlignVCenter,
        at < scene.device->trace->eventCount() - 1   ? text::event(at)
            : scene.device->trace->totals().endKnown ? QObject::tr("at the end")
                                                     : QObject::tr("at the last event"));
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const CurveLabel& label = labels[i];
        if (label.sample == Sample::Full || label.sample == Sample::Hollow) {
            const double y = scene.curvePoint(label.bytes);
            if (y >= area.top() && y <= area.bottom() + 2)
                paintSample(painter, scene, label.sample, label.colour, { area.left() - 6.0, y });
        }
        if (places[i] == kNoPlace)
            continue;
        const double top = places[i] - metrics.height();
        const double left = area.left() + 12;
        paintSample(painter, scene, label.sample, label.colour, { left, top + metrics.height() / 2 });
        painter.setPen(scene.colour(Palette::Role::TextMuted));
        painter.drawText(QRectF(left + 17, top, area.right() - left - 17, metrics.height()),
            Qt::AlignLeft | Qt::AlignVCenter, label.name);
        painter.setPen(scene.colour(Palette::Role::Text));
        painter.drawText(QRectF(left, top + metrics.height(), area.right() - left, metrics.height()),
            Qt::AlignLeft | Qt::AlignVCenter, label.value);
    }
}

} // namespace strata::views
