// SPDX-License-Identifier: GPL-3.0-or-later
// What the allocator asked of the driver, between the lanes and the memory.
#include "views/widgets/timeline/lanes_view.h"

#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/timeline/lanes_look.h"
#include "views/widgets/timeline/mark_words.h"

#include <QPainter>

#include <algorithm>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr int kMarkPx = 3;

} // namespace

const MarkTrack& LanesView::marks() const
{
    static const MarkTrack kNone;
    return m_data ? m_data->marks() : kNone;
}

QRect LanesView::marksPlot() const
{
    if (marks().empty())
        return {};
    const QRect lanes = plot();
    return { lanes.left(), lanes.bottom() + 1 + kGrid / 2, lanes.width(), scaled(kMarksHeight, font()) };
}

std::int64_t LanesView::foldNs() const
{
    return std::max<std::int64_t>(static_cast<std::int64_t>(kFoldPx * nsPerPoint()), 1);
}

std::optional<std::uint32_t> LanesView::markAt(const QPoint& at) const
{
    return marksPlot().contains(at)
        ? marks().pick(static_cast<std::int64_t>(nsAt(at.x())), static_cast<std::int64_t>(3 * nsPerPoint()))
        : std::nullopt;
}

/// What lies at the ends of the view is whole: the last thing that happened may be an out-of-memory.
int LanesView::xOfMark(std::int64_t ns) const
{
    const QRect area = plot();
    const auto time = static_cast<double>(ns);
    const double x = area.left() + (time - m_view.begin) * area.width() / m_view.width();
    const bool isInView = m_view.begin <= time && time <= m_view.end;
    const double left = area.left() + 1.0;
    return static_cast<int>(isInView ? std::clamp(x, left, std::max(area.right() - 1.0, left)) : x);
}

QPoint LanesView::placeOfMark(std::uint32_t mark) const
{
    return { xOfMark(marks().timeOf(mark)), marksPlot().center().y() };
}

void LanesView::setCurrentMark(std::optional<std::uint32_t> mark)
{
    m_mark = mark;
    if (mark) {
        m_current.reset();
        m_partner.reset();
        setAccessibleDescription(text::markLines(marks()[*mark], marks().timeOf(*mark)).join(u'\n'));
    }
    viewport()->update();
}

void LanesView::chooseMark(std::uint32_t mark)
{
    if (mark == m_mark)
        return;
    setCurrentMark(mark);
    Q_EMIT markChosen(mark);
}

void LanesView::revealMark(std::uint32_t mark)
{
    const auto ns = static_cast<double>(marks().timeOf(mark));
    if (ns < m_view.begin || ns > m_view.end)
        move({ ns - m_view.width() / 2, ns + m_view.width() / 2 });
}

/// Along the marks, or up to the lanes.
void LanesView::walkMarks(int key)
{
    if (key == Qt::Key_Left || key == Qt::Key_Right) {
        const bool isAtEnd = key == Qt::Key_Left ? *m_mark == 0 : *m_mark + 1 == marks().size();
        if (!isAtEnd) {
            chooseMark(key == Qt::Key_Left ? *m_mark - 1 : *m_mark + 1);
            revealMark(*m_mark);
        }
    } else if (key == Qt::Key_Up) {
        const std::int64_t ns = marks().timeOf(*m_mark);
        for (std::size_t row = m_lanes.rows().size(); row-- > 0;) {
            const LaneLayout::Row& shown = m_lanes.rows()[row];
            if (const auto piece
                = m_data->tracks().pick(m_data->tracks().tracks()[shown.track].rows[shown.row], ns,
                    m_data->tracks().lengthNs())) {
                choose(piece);
                return reveal(*piece);
            }
        }
    }
}

/// To the mark that is nearest to an instant; whether there is any.
bool LanesView::walkToMarks(std::int64_t ns)
{
    const auto mark = marks().nearest(ns);
    if (!mark)
        return false;
    chooseMark(*mark);
    revealMark(*mark);
    return true;
}

QStringList LanesView::markLinesAt(const QPoint& at) const
{
    const auto mark = markAt(at);
    return mark ? text::markLines(marks(), marks().groupOf(*mark, foldNs())) : QStringList();
}

void LanesView::zoomToMarks(std::uint32_t mark)
{
    const MarkGroup group = marks().groupOf(mark, foldNs());
    const auto begin = static_cast<double>(group.beginNs), end = static_cast<double>(group.endNs);
    const double width = group.count > 1 ? (end - begin) * 1.2 : m_view.width() / 10;
    move({ (begin + end - width) / 2, (begin + end + width) / 2 });
}

/// Upwards what is taken, downwards what is given back; an out-of-memory over all of it, and down through the
/// memory.
void LanesView::paintMarks(QPainter& painter) const
{
    const QRect area = marksPlot();
    if (area.isEmpty())
        return;
    painter.setFont(sized(font(), kAxisPx));
    const QFontMetrics metrics(painter.font());
    painter.setPen(m_palette[Role::Text]);
    painter.drawText(QRect(kGrid, area.top(), area.left() - 2 * kGrid, area.height()),
        Qt::AlignLeft | Qt::AlignVCenter, tr("Allocator"));
    painter.setPen(m_palette[Role::TextMuted]);
    painter.drawText(QRect(kGrid, area.top(), area.left() - 2 * kGrid, area.height()),
        Qt::AlignRight | Qt::AlignVCenter, text::count(marks().size()));

    const QRect below = memoryPlot();
    painter.save();
    painter.setClipRect(area.united(below));
    const int middle = area.top() + area.height() / 2;
    painter.fillRect(area.left(), middle, area.width(), 1, m_palette[Role::Line]);
    const auto begin = static_cast<std::int64_t>(m_view.begin), end = static_cast<std::int64_t>(m_view.end);
    const auto placeOf = [&](const MarkGroup& group) {
        const int x0 = xOfMark(group.beginNs) - kMarkPx / 2;
        const int x1 = xOfMark(group.endNs) - kMarkPx / 2 + kMarkPx;
        return QRect(x0, area.top(), x1 - x0, area.height());
    };
    marks().groups(MarkTrack::Part::Segments, begin, end, foldNs(), [&](const MarkGroup& group) {
        const QRect place = placeOf(group);
        if (group.taken > 0)
            painter.fillRect(place.adjusted(0, 0, 0, middle - place.bottom() - 1), m_palette[Role::Reserved]);
        if (group.taken < group.count)
            painter.fillRect(place.adjusted(0, middle + 1 - place.top(), 0, 0), m_palette[Role::Reserved]);
        const QString count = text::count(group.count);
        const int width = metrics.horizontalAdvance(count) + kGrid / 2;
        if (group.count == 1 || width + 2 * kGrid > place.width()) // so that it still is a bar
            return;
        const QRect label(place.center().x() - width / 2, place.top(), width, place.height());
        painter.fillRect(label, m_palette[Role::Surface]);
        painter.setPen(m_palette[Role::Text]);
        painter.drawText(label, Qt::AlignCenter, count);
    });
    painter.setFont(bold(painter.font()));
    int labelled = area.left(); // up to here a label reaches
    marks().groups(MarkTrack::Part::OutOfMemories, begin, end, foldNs(), [&](const MarkGroup& group) {
        const QRect place = placeOf(group);
        painter.fillRect(place, m_palette[Role::Bad]);
        if (below.isEmpty())
            return;
        painter.fillRect(place.left() + kMarkPx / 2, area.bottom() + 1, 1, below.bottom() - area.bottom(),
            m_palette[Role::Bad]);
        const QString said = group.count == 1 ? tr("out of memory")
                                              : tr("%1 times out of memory").arg(text::count(group.count));
        // To the side on which there is room.
        const int width = QFontMetrics(painter.font()).horizontalAdvance(said);
        QRect label(place.right() + 4, below.top(), width, metrics.height());
        if (label.right() > area.right())
            label.moveRight(place.left() - kGrid);
        if (label.left() < labelled)
            return;
        labelled = std::max(label.right(), place.right());
        painter.setPen(m_palette[Role::Bad]);
        painter.drawText(label, Qt::AlignLeft | Qt::AlignVCenter, said);
    });
    if (m_mark) {
        const int x = placeOfMark(*m_mark).x();
        painter.setPen(QPen(m_palette[Role::Accent], 2));
        painter.drawRect(QRect(x - kMarkPx / 2 - 2, area.top() + 1, kMarkPx + 4, area.height() - 2));
    }
    painter.restore();
}

} // namespace strata::views
