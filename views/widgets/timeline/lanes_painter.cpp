// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_painter.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/axis/axis_painter.h"
#include "views/widgets/timeline/below_lanes_painter.h"
#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/lanes_look.h"

#include <QCoreApplication>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kTextRoom = 24; // a name in less says nothing
constexpr int kFaint = 70; // of what is not looked for

bool isLight(const QColor& colour)
{
    return qGray(colour.rgb()) > 125;
}

} // namespace

void LanesPainter::setColours(const Palette& palette)
{
    m_palette = palette;
    m_fills.clear();
    for (int look = 0; look < kWorkLooks; ++look) {
        const QColor fill = colourOf(palette, static_cast<WorkLook>(look));
        m_fills.push_back(fill);
        m_fills.push_back(palette.isDark() ? fill.darker(118) : fill.lighter(114));
    }
}

void LanesPainter::paint(QPainter& painter, const LanesScene& scene)
{
    painter.fillRect(QRect(QPoint(0, 0), scene.places.size()), m_palette[Role::Surface]);
    if (!scene.places.data())
        return;
    const QRect area = scene.places.plot();
    painter.save();
    for (const bool isFixed : { false, true })
        paintLanes(painter, scene, isFixed);
    painter.setClipRect(area);
    paintLaunch(painter, scene);
    painter.restore();
    paintBelowLanes(painter, scene, m_palette);
    paintSelection(painter, scene);
    for (const bool isFixed : { false, true })
        paintNames(painter, scene, isFixed);
    if (scene.dropTop)
        painter.fillRect(
            0, scene.places.yOf(*scene.dropTop) - 4, scene.places.size().width(), 2, m_palette[Role::Accent]);
    const QRect strip(area.left(), 0, area.width(), area.top());
    painter.fillRect(QRect(0, 0, scene.places.size().width(), area.top()), m_palette[Role::Surface]);
    const double ratio = scene.ratio;
    const AxisLook look{ sized(scene.places.font(), kAxisPx), m_palette[Role::TextMuted],
        m_palette[Role::Line], ratio };
    const XMapping x(model::Axis::Time, scene.places.view(), static_cast<int>(area.width() * ratio));
    // Nothing is at the right of the lanes.
    paintEventAxis(painter, look, strip, x, scene.places.size().width());
    if (scene.hasFocus) {
        painter.setPen(m_palette[Role::Accent]);
        painter.drawRect(QRect(QPoint(0, 0), scene.places.size()).adjusted(0, 0, -1, -1));
    }
}

/// Of the lanes those that scroll, or those that do not.
void LanesPainter::paintLanes(QPainter& painter, const LanesScene& scene, bool isFixed)
{
    const QRect area = scene.places.partOf(isFixed);
    painter.setClipRect(area);
    for (const LaneLayout::Track& track : scene.places.lanes().tracks()) {
        const int bottom = scene.places.yOf(track.top) + track.height + 2;
        if (isFixed == (track.top < scene.places.fixedHeight()) && area.top() <= bottom
            && bottom <= area.bottom())
            painter.fillRect(area.left(), bottom, area.width(), 1, m_palette[Role::Line]);
    }
    for (const LaneLayout::Row& row : scene.places.lanes().rows())
        if (const int top = scene.places.yOf(row.top); isFixed == (row.top < scene.places.fixedHeight())
            && top + scene.places.lanes().rowHeight() >= area.top() && top <= area.bottom())
            paintRow(painter, scene, row, top);
}

void LanesPainter::paintRow(QPainter& painter, const LanesScene& scene, const LaneLayout::Row& row, int top)
{
    const model::WorkTracks& tracks = scene.places.data()->tracks();
    const model::WorkRow& pieces = tracks.tracks()[row.track].rows[row.row];
    const QRect area = scene.places.plot();
    const double perPoint = scene.places.view().width() / area.width(), left = area.left(),
                 right = left + area.width();
    const int height = scene.places.lanes().rowHeight() - 1;
    const double baseline = top + (height + m_text.metrics().ascent() - m_text.metrics().descent()) / 2;
    const auto see = [&](const model::WorkSegment& segment) {
        const double x0 = std::max(
            left + (static_cast<double>(segment.beginNs) - scene.places.view().begin) / perPoint, left);
        const double x1 = std::min(
            left + (static_cast<double>(segment.endNs) - scene.places.view().begin) / perPoint, right);
        const std::uint32_t first = pieces.spans[segment.first];
        QColor fill = m_fills[scene.places.data()->lookOf(first)];
        const bool isFound = scene.found.isEmpty() || scene.found.has(row.track, row.row, segment);
        if (!isFound)
            fill.setAlpha(kFaint);
        // A gap between neighbours that are wide enough for it.
        const int begin = static_cast<int>(x0), room = std::max(static_cast<int>(x1) - begin, 1);
        painter.fillRect(begin, top, room > kFoldPx + 1 ? room - 1 : room, height, fill);
        if (segment.count > 1 || room < kTextRoom || !isFound)
            return;
        // Both shades of a colour bear the same.
        painter.setPen(isLight(m_fills[scene.places.data()->lookOf(first) & ~1U]) ? QColor(0x1d, 0x1d, 0x1f)
                                                                                  : QColor(Qt::white));
        m_text.drawElided(painter, begin + 3, baseline, room - 5,
            nameOf(scene, scene.places.data()->work().spans[first].name));
    };
    tracks.segments(pieces, static_cast<std::int64_t>(scene.places.view().begin),
        static_cast<std::int64_t>(scene.places.view().end) + 1, static_cast<std::int64_t>(kFoldPx * perPoint),
        see);
}

/// As it is drawn; kept, since the same few stand on most pieces.
const QString& LanesPainter::nameOf(const LanesScene& scene, model::StringId name)
{
    constexpr std::size_t kMost = 20'000;
    constexpr qsizetype kLongest = 200;
    if (m_names.size() > kMost)
        m_names.clear();
    const auto [at, isNew] = m_names.try_emplace(name.value);
    if (isNew)
        at->second = text::shortened(scene.places.data()->strings()[name], kLongest);
    return at->second;
}

void LanesPainter::paintNames(QPainter& painter, const LanesScene& scene, bool isFixed) const
{
    const QRect area = scene.places.partOf(isFixed);
    const QRect column(0, area.top(), area.left(), area.height());
    painter.fillRect(column, m_palette[Role::Surface]);
    painter.save();
    painter.setClipRect(column);
    painter.setFont(sized(scene.places.font(), kAxisPx));
    const QFontMetrics metrics(painter.font());
    for (const LaneLayout::Track& track : scene.places.lanes().tracks()) {
        // The name of what is scrolled stays in view as long as some of its rows do.
        if (isFixed != (track.top < scene.places.fixedHeight()))
            continue;
        const int top = scene.places.yOf(track.top);
        const int at = std::clamp(area.top(), top, top + track.height - scene.places.lanes().rowHeight());
        if (top + track.height < area.top() || top > area.bottom())
            continue;
        if (scene.places.lanes().isPinned(track.track))
            painter.fillRect(0, top, 3, track.height, m_palette[Role::Accent]);
        const model::WorkTrack& of = scene.places.data()->tracks().tracks()[track.track];
        const int mark = scaled(14, scene.places.font());
        const QRect place(mark + 2, at, column.width() - mark - kGrid, scene.places.lanes().rowHeight());
        if (of.rows.size() > 1) {
            QPainterPath path;
            const QPointF centre(kGrid + 2, at + scene.places.lanes().rowHeight() / 2.0);
            const double size = 3.5;
            if (track.isFolded) {
                path.moveTo(centre + QPointF(-size / 2, -size));
                path.lineTo(centre + QPointF(size, 0));
                path.lineTo(centre + QPointF(-size / 2, size));
            } else {
                path.moveTo(centre + QPointF(-size, -size / 2));
                path.lineTo(centre + QPointF(size, -size / 2));
                path.lineTo(centre + QPointF(0, size));
            }
            painter.setRenderHint(QPainter::Antialiasing);
            painter.fillPath(path, m_palette[Role::TextMuted]);
            painter.setRenderHint(QPainter::Antialiasing, false);
        }
        const model::WorkLane& lane = scene.places.data()->work().lanes[of.lane];
        painter.setPen(lane.device ? m_palette[Role::Text] : m_palette[Role::TextMuted]);
        painter.drawText(place, Qt::AlignVCenter | Qt::AlignLeft,
            metrics.elidedText(
                text::lane(lane, scene.places.data()->strings()), Qt::ElideMiddle, place.width()));
        if (track.left > 0 && track.height >= 2 * scene.places.lanes().rowHeight() && at == top) {
            painter.setPen(m_palette[Role::TextMuted]);
            painter.drawText(place.translated(0, scene.places.lanes().rowHeight()),
                Qt::AlignVCenter | Qt::AlignLeft,
                QCoreApplication::translate("strata::views::LanesView", "%1 outer calls left out")
                    .arg(track.left));
        }
    }
    painter.restore();
    if (isFixed && area.height() > 0)
        painter.fillRect(0, area.bottom() - 1, scene.places.size().width(), 2, m_palette[Role::TextMuted]);
    painter.fillRect(
        area.left() - 1, area.top(), 1, scene.places.size().height() - area.top(), m_palette[Role::Line]);
}

void LanesPainter::paintSelection(QPainter& painter, const LanesScene& scene) const
{
    const QRect area = scene.places.plot();
    if (scene.measured) {
        const double x0 = std::max(scene.places.xOf(scene.measured->begin), area.left() * 1.0);
        const double x1 = std::min(scene.places.xOf(scene.measured->end), area.right() * 1.0);
        if (x1 >= x0) {
            painter.fillRect(QRectF(x0, area.top(), x1 - x0, scene.places.size().height() - area.top()),
                m_palette[Role::Selection]);
            const QString length = text::duration(static_cast<std::int64_t>(scene.measured->width()));
            painter.setFont(bold(sized(scene.places.font(), kAxisPx)));
            const QFontMetrics metrics(painter.font());
            const int width = metrics.horizontalAdvance(length) + 2 * kGrid;
            const QRect label(static_cast<int>(std::clamp((x0 + x1 - width) / 2, area.left() * 1.0,
                                  std::max(area.right() - width, area.left()) * 1.0)),
                area.bottom() - metrics.height() - kGrid, width, metrics.height() + 4);
            painter.fillRect(label, m_palette[Role::Accent]);
            painter.setPen(m_palette[Role::AccentText]);
            painter.drawText(label, Qt::AlignCenter, length);
        }
    }
    if (!scene.current)
        return;
    const auto place = scene.places.data()->tracks().placeOf(*scene.current);
    const auto row = place ? scene.places.lanes().rowOf(place->first, place->second) : std::nullopt;
    if (!row)
        return;
    const double x0
        = scene.places.xOf(static_cast<double>(scene.places.data()->tracks().beginOf(*scene.current)));
    const double x1
        = scene.places.xOf(static_cast<double>(scene.places.data()->tracks().endOf(*scene.current)));
    const int top = scene.places.yOf(scene.places.lanes().rows()[*row].top);
    painter.save();
    painter.setClipRect(
        scene.places.partOf(scene.places.lanes().rows()[*row].top < scene.places.fixedHeight()));
    painter.setPen(QPen(m_palette[Role::Text], 2));
    painter.drawRect(QRectF(x0, top, std::max(x1 - x0, 2.0), scene.places.lanes().rowHeight() - 1));
    painter.restore();
}

/// From the call that launched it to the work.
void LanesPainter::paintLaunch(QPainter& painter, const LanesScene& scene) const
{
    if (!scene.current || !scene.partner)
        return;
    const bool isWork = model::isDeviceWork(scene.places.data()->work().spans[*scene.current].kind);
    const std::uint32_t call = isWork ? *scene.partner : *scene.current,
                        work = isWork ? *scene.current : *scene.partner;
    const QPointF from(scene.places.xOf(static_cast<double>(scene.places.data()->tracks().beginOf(call))),
        scene.places.placeOf(call).y());
    const QPointF to(scene.places.xOf(static_cast<double>(scene.places.data()->tracks().beginOf(work))),
        scene.places.placeOf(work).y());
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(m_palette[Role::Text], 1.5));
    QPainterPath path(from);
    const double bow = std::max(std::abs(to.x() - from.x()) / 3, 12.0);
    path.cubicTo(from + QPointF(bow, 0), to - QPointF(bow, 0), to);
    painter.drawPath(path);
    QPainterPath head(to);
    head.lineTo(to + QPointF(-7, -4));
    head.lineTo(to + QPointF(-7, 4));
    painter.fillPath(head, m_palette[Role::Text]);
    painter.setRenderHint(QPainter::Antialiasing, false);
}

} // namespace strata::views
