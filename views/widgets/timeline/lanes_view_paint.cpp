// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_view.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/axis/axis_painter.h"
#include "views/widgets/memory/raster/curve_spans.h"
#include "views/widgets/timeline/lane_words.h"
#include "views/widgets/timeline/lanes_look.h"

#include <QPainter>
#include <QPainterPath>
#include <QScrollBar>

#include <algorithm>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kTextRoom = 24; // a name in less says nothing
constexpr double kHeadroom = 1.08;
constexpr int kFaint = 70; // of what is not looked for

bool isLight(const QColor& colour)
{
    return qGray(colour.rgb()) > 125;
}

} // namespace

void LanesView::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    painter.fillRect(viewport()->rect(), m_palette[Role::Surface]);
    if (!m_data)
        return;
    const QRect area = plot();
    painter.save();
    for (const bool isFixed : { false, true })
        paintLanes(painter, isFixed);
    painter.setClipRect(area);
    paintLaunch(painter);
    painter.restore();
    paintBelow(painter);
    paintSelection(painter);
    for (const bool isFixed : { false, true })
        paintNames(painter, isFixed);
    paintDrag(painter);
    const QRect strip(area.left(), 0, area.width(), area.top());
    painter.fillRect(QRect(0, 0, viewport()->width(), area.top()), m_palette[Role::Surface]);
    const double ratio = devicePixelRatioF();
    const AxisLook look{ sized(font(), kAxisPx), m_palette[Role::TextMuted], m_palette[Role::Line], ratio };
    const XMapping x(model::Axis::Time, m_view, static_cast<int>(area.width() * ratio));
    paintEventAxis(painter, look, strip, x, viewport()->width()); // nothing is at the right of the lanes
    if (hasFocus()) {
        painter.setPen(m_palette[Role::Accent]);
        painter.drawRect(viewport()->rect().adjusted(0, 0, -1, -1));
    }
}

/// Of the lanes those that scroll, or those that do not.
void LanesView::paintLanes(QPainter& painter, bool isFixed) const
{
    const QRect area = partOf(isFixed);
    painter.setClipRect(area);
    for (const LaneLayout::Track& track : m_lanes.tracks()) {
        const int bottom = yOf(track.top) + track.height + 2;
        if (isFixed == (track.top < fixedHeight()) && area.top() <= bottom && bottom <= area.bottom())
            painter.fillRect(area.left(), bottom, area.width(), 1, m_palette[Role::Line]);
    }
    for (const LaneLayout::Row& row : m_lanes.rows())
        if (const int top = yOf(row.top); isFixed == (row.top < fixedHeight())
            && top + m_lanes.rowHeight() >= area.top() && top <= area.bottom())
            paintRow(painter, row, top);
}

void LanesView::paintRow(QPainter& painter, const LaneLayout::Row& row, int top) const
{
    const model::WorkTracks& tracks = m_data->tracks();
    const model::WorkRow& pieces = tracks.tracks()[row.track].rows[row.row];
    const QRect area = plot();
    const double perPoint = m_view.width() / area.width(), left = area.left(), right = left + area.width();
    const int height = m_lanes.rowHeight() - 1;
    const double baseline = top + (height + m_text.metrics().ascent() - m_text.metrics().descent()) / 2;
    const auto see = [&](const model::WorkSegment& segment) {
        const double x0
            = std::max(left + (static_cast<double>(segment.beginNs) - m_view.begin) / perPoint, left);
        const double x1
            = std::min(left + (static_cast<double>(segment.endNs) - m_view.begin) / perPoint, right);
        const std::uint32_t first = pieces.spans[segment.first];
        QColor fill = m_fills[m_data->lookOf(first)];
        const bool isFound = m_found.empty() || hasFound(row.track, row.row, segment);
        if (!isFound)
            fill.setAlpha(kFaint);
        // A gap between neighbours that are wide enough for it.
        const int begin = static_cast<int>(x0), room = std::max(static_cast<int>(x1) - begin, 1);
        painter.fillRect(begin, top, room > kFoldPx + 1 ? room - 1 : room, height, fill);
        if (segment.count > 1 || room < kTextRoom || !isFound)
            return;
        // Both shades of a colour bear the same.
        painter.setPen(
            isLight(m_fills[m_data->lookOf(first) & ~1U]) ? QColor(0x1d, 0x1d, 0x1f) : QColor(Qt::white));
        m_text.drawElided(painter, begin + 3, baseline, room - 5, nameOf(m_data->work().spans[first].name));
    };
    tracks.segments(pieces, static_cast<std::int64_t>(m_view.begin),
        static_cast<std::int64_t>(m_view.end) + 1, static_cast<std::int64_t>(kFoldPx * perPoint), see);
}

/// As it is drawn; kept, since the same few stand on most pieces.
const QString& LanesView::nameOf(model::StringId name) const
{
    constexpr std::size_t kMost = 20'000;
    constexpr qsizetype kLongest = 200;
    if (m_names.size() > kMost)
        m_names.clear();
    const auto [at, isNew] = m_names.try_emplace(name.value);
    if (isNew)
        at->second = text::shortened(m_data->strings()[name], kLongest);
    return at->second;
}

void LanesView::paintNames(QPainter& painter, bool isFixed) const
{
    const QRect area = partOf(isFixed);
    const QRect column(0, area.top(), area.left(), area.height());
    painter.fillRect(column, m_palette[Role::Surface]);
    painter.save();
    painter.setClipRect(column);
    painter.setFont(sized(font(), kAxisPx));
    const QFontMetrics metrics(painter.font());
    for (const LaneLayout::Track& track : m_lanes.tracks()) {
        // The name of what is scrolled stays in view as long as some of its rows do.
        if (isFixed != (track.top < fixedHeight()))
            continue;
        const int top = yOf(track.top);
        const int at = std::clamp(area.top(), top, top + track.height - m_lanes.rowHeight());
        if (top + track.height < area.top() || top > area.bottom())
            continue;
        if (isPinned(track.track))
            painter.fillRect(0, top, 3, track.height, m_palette[Role::Accent]);
        const model::WorkTrack& of = m_data->tracks().tracks()[track.track];
        const int mark = scaled(14, font());
        const QRect place(mark + 2, at, column.width() - mark - kGrid, m_lanes.rowHeight());
        if (of.rows.size() > 1) {
            QPainterPath path;
            const QPointF centre(kGrid + 2, at + m_lanes.rowHeight() / 2.0);
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
        const model::WorkLane& lane = m_data->work().lanes[of.lane];
        painter.setPen(lane.device ? m_palette[Role::Text] : m_palette[Role::TextMuted]);
        painter.drawText(place, Qt::AlignVCenter | Qt::AlignLeft,
            metrics.elidedText(text::lane(lane, m_data->strings()), Qt::ElideMiddle, place.width()));
        if (track.left > 0 && track.height >= 2 * m_lanes.rowHeight() && at == top) {
            painter.setPen(m_palette[Role::TextMuted]);
            painter.drawText(place.translated(0, m_lanes.rowHeight()), Qt::AlignVCenter | Qt::AlignLeft,
                tr("%1 outer calls left out").arg(track.left));
        }
    }
    painter.restore();
    if (isFixed && area.height() > 0)
        painter.fillRect(0, area.bottom() - 1, viewport()->width(), 2, m_palette[Role::TextMuted]);
    painter.fillRect(
        area.left() - 1, area.top(), 1, viewport()->height() - area.top(), m_palette[Role::Line]);
}

/// What stands below the lanes, however they are scrolled.
void LanesView::paintBelow(QPainter& painter) const
{
    if (!memory() && marks().empty())
        return;
    painter.fillRect(
        QRect(0, plot().bottom() + 1, viewport()->width(), viewport()->height()), m_palette[Role::Surface]);
    painter.fillRect(0, plot().bottom() + 1, viewport()->width(), 1, m_palette[Role::Line]);
    if (const model::WorkMemory* const memory = this->memory())
        paintMemory(painter, *memory);
    paintMarks(painter);
}

void LanesView::paintMemory(QPainter& painter, const model::WorkMemory& memory) const
{
    const QRect area = memoryPlot();
    std::vector<model::CurveRange> allocated, reserved;
    std::int64_t top = 1;
    const double perPoint = nsPerPoint();
    const auto beginOf = [&](int x) { return static_cast<std::int64_t>(m_view.begin + x * perPoint); };
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
    QColor under = m_palette[Role::Requested];
    under.setAlphaF(0.35F);
    fill(areaSpans(allocated, y), under);
    fill(curveSpans(allocated, y, 1), m_palette[Role::Requested]);
    fill(curveSpans(reserved, y, 1), m_palette[Role::Reserved]);
    painter.fillRect(area.left(), area.bottom() + 1, area.width(), 1, m_palette[Role::Line]);

    painter.setFont(sized(font(), kAxisPx));
    const QFontMetrics metrics(painter.font());
    const QRect names(kGrid, area.top(), area.left() - 2 * kGrid, metrics.height());
    painter.setPen(m_palette[Role::Text]);
    painter.drawText(names, Qt::AlignLeft,
        memory.deviceType == 0 ? tr("Memory of the CPU") : tr("Memory of GPU %1").arg(memory.device));
    painter.setPen(m_palette[Role::TextMuted]);
    painter.drawText(names.translated(0, metrics.height() + 2), Qt::AlignLeft,
        m_data->tellsRequested(memory) ? tr("requested, filled") : tr("allocated, filled"));
    if (memory.reservedKnown)
        painter.drawText(
            names.translated(0, 2 * (metrics.height() + 2)), Qt::AlignLeft, tr("reserved, a line"));
    painter.drawText(names, Qt::AlignRight, text::bytes(top));
}

void LanesView::paintSelection(QPainter& painter) const
{
    const QRect area = plot();
    if (m_measured) {
        const double x0 = std::max(xOf(m_measured->begin), area.left() * 1.0);
        const double x1 = std::min(xOf(m_measured->end), area.right() * 1.0);
        if (x1 >= x0) {
            painter.fillRect(QRectF(x0, area.top(), x1 - x0, viewport()->height() - area.top()),
                m_palette[Role::Selection]);
            const QString length = text::duration(static_cast<std::int64_t>(m_measured->width()));
            painter.setFont(bold(sized(font(), kAxisPx)));
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
    if (!m_current)
        return;
    const auto place = m_data->tracks().placeOf(*m_current);
    const auto row = place ? m_lanes.rowOf(place->first, place->second) : std::nullopt;
    if (!row)
        return;
    const double x0 = xOf(static_cast<double>(m_data->tracks().beginOf(*m_current)));
    const double x1 = xOf(static_cast<double>(m_data->tracks().endOf(*m_current)));
    const int top = yOf(m_lanes.rows()[*row].top);
    painter.save();
    painter.setClipRect(partOf(m_lanes.rows()[*row].top < fixedHeight()));
    painter.setPen(QPen(m_palette[Role::Text], 2));
    painter.drawRect(QRectF(x0, top, std::max(x1 - x0, 2.0), m_lanes.rowHeight() - 1));
    painter.restore();
}

/// From the call that launched it to the work.
void LanesView::paintLaunch(QPainter& painter) const
{
    if (!m_current || !m_partner)
        return;
    const bool isWork = model::isDeviceWork(m_data->work().spans[*m_current].kind);
    const std::uint32_t call = isWork ? *m_partner : *m_current, work = isWork ? *m_current : *m_partner;
    const QPointF from(xOf(static_cast<double>(m_data->tracks().beginOf(call))), placeOf(call).y());
    const QPointF to(xOf(static_cast<double>(m_data->tracks().beginOf(work))), placeOf(work).y());
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
