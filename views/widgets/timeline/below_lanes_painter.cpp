// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/below_lanes_painter.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/memory/raster/curve_spans.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kMarkPx = 3;
constexpr double kHeadroom = 1.08;

void paintMemory(
    QPainter& painter, const LanesScene& scene, const Palette& palette, const model::WorkMemory& memory)
{
    const QRect area = scene.places.memoryPlot();
    std::vector<model::CurveRange> allocated, reserved;
    std::int64_t top = 1;
    const double perPoint = scene.places.nsPerPoint();
    const auto beginOf
        = [&](int x) { return static_cast<std::int64_t>(scene.places.view().begin + x * perPoint); };
    for (int x = 0; x < area.width(); ++x) {
        const std::int64_t from = beginOf(x);
        const auto range = memory.range(from, std::max(beginOf(x + 1), from + 1));
        allocated.push_back({ range.allocatedMin, range.allocatedMax, 0 });
        if (memory.reservedKnown)
            reserved.push_back({ range.reservedMin, range.reservedMax, 0 });
        top = std::max({ top, range.allocatedMax, range.reservedMax });
    }
    const YMapping y({ 0, static_cast<double>(top) * kHeadroom }, area.height());
    const auto fill = [&](const std::vector<PixelSpan>& spans, const QColor& colour) {
        for (const PixelSpan& span : spans)
            painter.fillRect(area.left() + span.x0, area.top() + span.top, span.x1 - span.x0,
                span.bottom - span.top, colour);
    };
    QColor under = palette[Role::Requested];
    under.setAlphaF(0.35F);
    fill(areaSpans(allocated, y), under);
    fill(curveSpans(allocated, y, 1), palette[Role::Requested]);
    fill(curveSpans(reserved, y, 1), palette[Role::Reserved]);
    painter.fillRect(area.left(), area.bottom() + 1, area.width(), 1, palette[Role::Line]);

    painter.setFont(sized(scene.places.font(), kAxisPx));
    const QFontMetrics metrics(painter.font());
    const QRect names(kGrid, area.top(), area.left() - 2 * kGrid, metrics.height());
    painter.setPen(palette[Role::Text]);
    painter.drawText(names, Qt::AlignLeft,
        memory.deviceType == 0
            ? QCoreApplication::translate("strata::views::LanesView", "Memory of the CPU")
            : QCoreApplication::translate("strata::views::LanesView", "Memory of GPU %1").arg(memory.device));
    painter.setPen(palette[Role::TextMuted]);
    painter.drawText(names.translated(0, metrics.height() + 2), Qt::AlignLeft,
        scene.places.data()->tellsRequested(memory)
            ? QCoreApplication::translate("strata::views::LanesView", "requested, filled")
            : QCoreApplication::translate("strata::views::LanesView", "allocated, filled"));
    if (memory.reservedKnown)
        painter.drawText(names.translated(0, 2 * (metrics.height() + 2)), Qt::AlignLeft,
            QCoreApplication::translate("strata::views::LanesView", "reserved, a line"));
    painter.drawText(names, Qt::AlignRight, text::bytes(top));
}

/// Upwards what is taken, downwards what is given back; an out-of-memory over all of it, and down through the
/// memory.
void paintMarks(QPainter& painter, const LanesScene& scene, const Palette& palette)
{
    const QRect area = scene.places.marksPlot();
    if (area.isEmpty())
        return;
    painter.setFont(sized(scene.places.font(), kAxisPx));
    const QFontMetrics metrics(painter.font());
    painter.setPen(palette[Role::Text]);
    painter.drawText(QRect(kGrid, area.top(), area.left() - 2 * kGrid, area.height()),
        Qt::AlignLeft | Qt::AlignVCenter,
        QCoreApplication::translate("strata::views::LanesView", "Allocator"));
    painter.setPen(palette[Role::TextMuted]);
    painter.drawText(QRect(kGrid, area.top(), area.left() - 2 * kGrid, area.height()),
        Qt::AlignRight | Qt::AlignVCenter, text::count(scene.places.marks().size()));

    const QRect below = scene.places.memoryPlot();
    painter.save();
    painter.setClipRect(area.united(below));
    const int middle = area.top() + area.height() / 2;
    painter.fillRect(area.left(), middle, area.width(), 1, palette[Role::Line]);
    const auto begin = static_cast<std::int64_t>(scene.places.view().begin),
               end = static_cast<std::int64_t>(scene.places.view().end);
    const auto placeOf = [&](const MarkGroup& group) {
        const int x0 = scene.places.xOfMark(group.beginNs) - kMarkPx / 2;
        const int x1 = scene.places.xOfMark(group.endNs) - kMarkPx / 2 + kMarkPx;
        return QRect(x0, area.top(), x1 - x0, area.height());
    };
    scene.places.marks().groups(
        MarkTrack::Part::Segments, begin, end, scene.places.foldNs(), [&](const MarkGroup& group) {
            const QRect place = placeOf(group);
            if (group.taken > 0)
                painter.fillRect(
                    place.adjusted(0, 0, 0, middle - place.bottom() - 1), palette[Role::Reserved]);
            if (group.taken < group.count)
                painter.fillRect(place.adjusted(0, middle + 1 - place.top(), 0, 0), palette[Role::Reserved]);
            const QString count = text::count(group.count);
            const int width = metrics.horizontalAdvance(count) + kGrid / 2;
            if (group.count == 1 || width + 2 * kGrid > place.width()) // so that it still is a bar
                return;
            const QRect label(place.center().x() - width / 2, place.top(), width, place.height());
            painter.fillRect(label, palette[Role::Surface]);
            painter.setPen(palette[Role::Text]);
            painter.drawText(label, Qt::AlignCenter, count);
        });
    painter.setFont(bold(painter.font()));
    int labelled = area.left(); // up to here a label reaches
    scene.places.marks().groups(
        MarkTrack::Part::OutOfMemories, begin, end, scene.places.foldNs(), [&](const MarkGroup& group) {
            const QRect place = placeOf(group);
            painter.fillRect(place, palette[Role::Bad]);
            if (below.isEmpty())
                return;
            painter.fillRect(place.left() + kMarkPx / 2, area.bottom() + 1, 1, below.bottom() - area.bottom(),
                palette[Role::Bad]);
            const QString said = group.count == 1
                ? QCoreApplication::translate("strata::views::LanesView", "out of memory")
                : QCoreApplication::translate("strata::views::LanesView", "%1 times out of memory")
                      .arg(text::count(group.count));
            // To the side on which there is room.
            const int width = QFontMetrics(painter.font()).horizontalAdvance(said);
            QRect label(place.right() + 4, below.top(), width, metrics.height());
            if (label.right() > area.right())
                label.moveRight(place.left() - kGrid);
            if (label.left() < labelled)
                return;
            labelled = std::max(label.right(), place.right());
            painter.setPen(palette[Role::Bad]);
            painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter, said);
        });
    if (scene.mark) {
        const int x = scene.places.placeOfMark(*scene.mark).x();
        painter.setPen(QPen(palette[Role::Accent], 2));
        painter.drawRect(QRect(x - kMarkPx / 2 - 2, area.top() + 1, kMarkPx + 4, area.height() - 2));
    }
    painter.restore();
}

} // namespace

void paintBelowLanes(QPainter& painter, const LanesScene& scene, const Palette& palette)
{
    if (!scene.places.memory() && scene.places.marks().empty())
        return;
    painter.fillRect(
        QRect(0, scene.places.plot().bottom() + 1, scene.places.size().width(), scene.places.size().height()),
        palette[Role::Surface]);
    painter.fillRect(
        0, scene.places.plot().bottom() + 1, scene.places.size().width(), 1, palette[Role::Line]);
    if (const model::WorkMemory* const shown = scene.places.memory())
        paintMemory(painter, scene, palette, *shown);
    paintMarks(painter, scene, palette);
}

} // namespace strata::views
