// SPDX-License-Identifier: GPL-3.0-or-later
// How the user arranges the lanes.
#include "views/widgets/timeline/lanes_view.h"

#include "views/widgets/hover_tip.h"

#include <QApplication>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <utility>

namespace strata::views {

using Role = Palette::Role;

namespace {

constexpr double kMostFixed = 2.0 / 3; // of the height of the lanes

} // namespace

/// The same whenever the recording is opened.
void LanesView::takeKeys()
{
    m_keys.clear();
    if (!m_data)
        return;
    for (const model::WorkTrack& track : m_data->tracks().tracks()) {
        const model::WorkLane& lane = m_data->work().lanes[track.lane];
        std::string& key
            = m_keys.emplace_back(std::to_string(lane.process) + ":" + std::to_string(lane.thread));
        if (lane.device)
            key += ":" + std::to_string(*lane.device) + ":" + std::to_string(lane.stream);
    }
}

int LanesView::fixedHeight() const
{
    return m_lanes.pinnedHeight() <= kMostFixed * plot().height() ? m_lanes.pinnedHeight() : 0;
}

QRect LanesView::partOf(bool isFixed) const
{
    QRect part = plot();
    if (isFixed)
        part.setHeight(fixedHeight());
    else
        part.setTop(part.top() + fixedHeight());
    return part;
}

int LanesView::yOf(int top) const
{
    return plot().top() + top - (top < fixedHeight() ? 0 : verticalScrollBar()->value());
}

int LanesView::topAt(int y) const
{
    const int top = y - plot().top();
    return top < fixedHeight() ? top : top + verticalScrollBar()->value();
}

std::optional<std::size_t> LanesView::trackAt(int y) const
{
    return plot().top() <= y && y <= plot().bottom() ? m_lanes.trackAt(topAt(y)) : std::nullopt;
}

std::optional<std::size_t> LanesView::currentTrack() const
{
    const auto place = m_data && m_current ? m_data->tracks().placeOf(*m_current) : std::nullopt;
    return place ? std::optional(place->first) : std::nullopt;
}

void LanesView::setOrder(const TrackOrder& order)
{
    if (order == m_order)
        return;
    m_order = order;
    layOut();
}

/// Of what the user did.
void LanesView::order(TrackOrder order)
{
    if (order == m_order)
        return;
    setOrder(order);
    Q_EMIT orderChanged();
}

bool LanesView::isPinned(std::size_t track) const
{
    const auto shown = std::ranges::find(m_lanes.tracks(), track, &LaneLayout::Track::track);
    return std::cmp_less(shown - m_lanes.tracks().begin(), m_lanes.pinnedTracks());
}

void LanesView::setPinned(std::size_t track, bool pinned)
{
    order(m_order.withPinned(m_keys, track, pinned));
}

void LanesView::moveTrack(std::size_t track, int by)
{
    const auto shown = std::ranges::find(m_lanes.tracks(), track, &LaneLayout::Track::track);
    const std::ptrdiff_t to = shown - m_lanes.tracks().begin() + by;
    order(m_order.moved(m_keys, track, static_cast<std::size_t>(std::max<std::ptrdiff_t>(to, 0))));
}

void LanesView::resetOrder()
{
    order(TrackOrder());
}

void LanesView::dragTrack(const QPoint& at)
{
    if (m_drag == Drag::None && (at - *m_pressed).manhattanLength() < QApplication::startDragDistance())
        return;
    m_drag = Drag::Track;
    if (at.y() < partOf(false).top())
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepSub);
    else if (at.y() > plot().bottom())
        verticalScrollBar()->triggerAction(QAbstractSlider::SliderSingleStepAdd);
    const int top = topAt(at.y());
    m_dropPlace = 0;
    for (const LaneLayout::Track& track : m_lanes.tracks())
        m_dropPlace += track.track != *m_heldTrack && track.top + track.height / 2 < top ? 1 : 0;
    viewport()->setCursor(Qt::ClosedHandCursor);
    viewport()->update();
}

void LanesView::dropTrack()
{
    const std::size_t track = *std::exchange(m_heldTrack, std::nullopt);
    if (m_drag == Drag::Track)
        order(m_order.moved(m_keys, track, m_dropPlace));
    else
        turnTrack(track);
    viewport()->unsetCursor();
    viewport()->update();
}

/// A line where what is dragged would come.
void LanesView::paintDrag(QPainter& painter) const
{
    if (m_drag != Drag::Track || !m_heldTrack)
        return;
    const TrackOrder::Arranged arranged = m_order.moved(m_keys, *m_heldTrack, m_dropPlace).arrange(m_keys);
    const auto place = std::ranges::find(arranged.lanes, *m_heldTrack) - arranged.lanes.begin();
    // Above the one that would come behind it, or below all.
    int top = m_lanes.height();
    if (std::cmp_less(place + 1, arranged.lanes.size())) {
        const std::size_t next = arranged.lanes[static_cast<std::size_t>(place) + 1];
        top = std::ranges::find(m_lanes.tracks(), next, &LaneLayout::Track::track)->top;
    }
    painter.fillRect(0, yOf(top) - 4, viewport()->width(), 2, m_palette[Role::Accent]);
}

void LanesView::addTrackActions(QMenu& menu, std::size_t track)
{
    const auto shown = std::ranges::find(m_lanes.tracks(), track, &LaneLayout::Track::track);
    const auto place = static_cast<std::size_t>(shown - m_lanes.tracks().begin());
    const bool isPinned = this->isPinned(track);
    const std::size_t first = isPinned ? 0 : m_lanes.pinnedTracks();
    const std::size_t last = (isPinned ? m_lanes.pinnedTracks() : m_lanes.tracks().size()) - 1;
    menu.addAction(tr("Move Up"), this, [this, track] { moveTrack(track, -1); })->setEnabled(place > first);
    menu.addAction(tr("Move Down"), this, [this, track] { moveTrack(track, 1); })->setEnabled(place < last);
    menu.addAction(isPinned ? tr("Unpin") : tr("Pin to Top"), this,
        [this, track, isPinned] { setPinned(track, !isPinned); });
    if (m_data->tracks().tracks()[track].rows.size() > 1)
        menu.addAction(isFolded(track) ? tr("Unfold") : tr("Fold"), this,
            [this, track] { setFolded(track, !isFolded(track)); });
    menu.addSeparator();
    menu.addAction(tr("Reset Order"), this, [this] { resetOrder(); })->setEnabled(!m_order.empty());
}

void LanesView::contextMenuEvent(QContextMenuEvent* event)
{
    if (!m_data)
        return;
    m_tip->hide();
    const bool isByKey = event->reason() == QContextMenuEvent::Keyboard;
    const QPoint at = !isByKey ? event->pos() : m_current ? placeOf(*m_current) : plot().topLeft();
    const auto track = isByKey ? currentTrack() : trackAt(at.y());
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    if (const auto piece = isByKey ? m_current : pieceAt(at)) {
        Q_EMIT menuAsked(menu, *piece);
        if (!menu->isEmpty())
            menu->addSeparator();
    }
    if (track)
        addTrackActions(*menu, *track);
    if (menu->isEmpty())
        delete menu;
    else
        menu->popup(viewport()->mapToGlobal(at));
}

} // namespace strata::views
