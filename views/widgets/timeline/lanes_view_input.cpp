// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/timeline/lanes_view.h"

#include "views/style/texts.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/own_keys.h"
#include "views/widgets/timeline/lane_walk.h"
#include "views/widgets/timeline/lane_words.h"

#include <QApplication>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {

constexpr double kWheelZoom = 0.8; // of a notch
constexpr double kKeyStep = 0.1; // of the view

} // namespace

bool LanesView::event(QEvent* event)
{
    if (takesOwnKey(event,
            { Qt::Key_W, Qt::Key_A, Qt::Key_S, Qt::Key_D, Qt::Key_Left, Qt::Key_Right, Qt::Key_Up,
                Qt::Key_Down, Qt::Key_PageUp, Qt::Key_PageDown })
        || ((m_measured || m_current || m_mark) && takesOwnKey(event, { Qt::Key_Escape })))
        return true;
    return QAbstractScrollArea::event(event);
}

bool LanesView::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave) {
        m_tip->hide();
        Q_EMIT hovered({});
    }
    return QAbstractScrollArea::viewportEvent(event);
}

void LanesView::wheelEvent(QWheelEvent* event)
{
    const QPoint delta = event->angleDelta();
    const double notches = (delta.y() != 0 ? delta.y() : delta.x()) / 120.0;
    if (event->position().x() < geometry().plot().left()) {
        QAbstractScrollArea::wheelEvent(event);
        return;
    }
    event->accept();
    m_tip->hide();
    if (event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(delta.x()) > std::abs(delta.y())) {
        const double by = -notches * kKeyStep * m_view.width();
        move({ m_view.begin + by, m_view.end + by });
    } else {
        move(zoomSpan(m_view, geometry().nsAt(static_cast<int>(event->position().x())),
            std::pow(kWheelZoom, notches), limits(), 1));
    }
}

void LanesView::mousePressEvent(QMouseEvent* event)
{
    const QPoint at = event->pos();
    m_tip->hide();
    if (at.x() < geometry().plot().left()) {
        m_heldTrack = event->button() == Qt::LeftButton ? geometry().trackAt(at.y()) : std::nullopt;
        m_pressed = m_heldTrack ? std::optional(at) : std::nullopt;
        m_drag = Drag::None;
        return;
    }
    m_heldTrack.reset();
    m_pressed = at;
    m_draggedX = at.x();
    m_drag = event->button() == Qt::MiddleButton ? Drag::Pan : Drag::None;
}

void LanesView::mouseMoveEvent(QMouseEvent* event)
{
    const QPoint at = event->pos();
    if (!m_pressed) {
        hover(at);
        return;
    }
    if (m_heldTrack)
        return dragTrack(at);
    if (m_drag == Drag::Pan) {
        const double by = (m_draggedX - at.x()) * geometry().nsPerPoint();
        m_draggedX = at.x();
        move({ m_view.begin + by, m_view.end + by });
        return;
    }
    if (m_drag == Drag::None && std::abs(at.x() - m_pressed->x()) < QApplication::startDragDistance())
        return;
    m_drag = Drag::Measure;
    const Span within = limits();
    const double from = std::clamp(geometry().nsAt(m_pressed->x()), within.begin, within.end);
    const double to = std::clamp(geometry().nsAt(at.x()), within.begin, within.end);
    measure(Span{ std::min(from, to), std::max(from, to) });
    Q_EMIT hovered(text::duration(static_cast<std::int64_t>(std::abs(to - from))));
}

void LanesView::mouseReleaseEvent(QMouseEvent* event)
{
    if (m_heldTrack) {
        dropTrack();
    } else if (m_pressed && m_drag == Drag::None && event->button() == Qt::LeftButton) {
        measure(std::nullopt);
        if (const auto mark = markAt(event->pos()))
            chooseMark(*mark);
        else
            choose(pieceAt(event->pos()));
    }
    m_pressed.reset();
    m_drag = Drag::None;
}

void LanesView::mouseDoubleClickEvent(QMouseEvent* event)
{
    if (const auto mark = markAt(event->pos()))
        return zoomToMarks(*mark);
    if (const auto piece = pieceAt(event->pos())) {
        const auto begin = static_cast<double>(m_data->tracks().beginOf(*piece));
        const double length = static_cast<double>(m_data->tracks().endOf(*piece)) - begin;
        move({ begin - length * 0.1, begin + length * 1.1 });
    }
}

void LanesView::hover(const QPoint& at)
{
    const auto piece = pieceAt(at);
    if (piece) {
        m_tip->showAt(at, text::workLines(*m_data, *piece));
        Q_EMIT hovered(text::shortened(m_data->nameOf(*piece), 120));
        return;
    }
    if (const QStringList lines = markLinesAt(at); !lines.isEmpty()) {
        m_tip->showAt(at, lines);
        Q_EMIT hovered(lines.front());
        return;
    }
    m_tip->hide();
    if (const model::WorkMemory* const memory = geometry().memory();
        memory && geometry().memoryPlot().contains(at)) {
        const auto ns = static_cast<std::int64_t>(geometry().nsAt(at.x()));
        if (const auto range = memory->range(ns, ns + 1); range.known) {
            QStringList lines{ (m_data->tellsRequested(*memory) ? tr("%1 requested") : tr("%1 allocated"))
                                   .arg(text::bytes(range.allocatedMax)) };
            if (memory->reservedKnown)
                lines << tr("%1 reserved").arg(text::bytes(range.reservedMax));
            m_tip->showAt(at, lines << tr("at %1 s").arg(text::seconds(ns)));
            return;
        }
    }
    Q_EMIT hovered(geometry().plot().contains(at)
            ? tr("%1 s").arg(text::seconds(static_cast<std::int64_t>(geometry().nsAt(at.x()))))
            : QString());
}

void LanesView::keyPressEvent(QKeyEvent* event)
{
    const double step = kKeyStep * m_view.width();
    const double middle = (m_view.begin + m_view.end) / 2;
    switch (event->key()) {
    case Qt::Key_W:
        return move(zoomSpan(m_view, middle, kWheelZoom, limits(), 1));
    case Qt::Key_S:
        return move(zoomSpan(m_view, middle, 1 / kWheelZoom, limits(), 1));
    case Qt::Key_A:
        return move({ m_view.begin - step, m_view.end - step });
    case Qt::Key_D:
        return move({ m_view.begin + step, m_view.end + step });
    case Qt::Key_Escape:
        if (!m_measured && !m_current && !m_mark)
            break;
        measure(std::nullopt);
        return setCurrent(std::nullopt);
    case Qt::Key_PageUp:
        return verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepSub);
    case Qt::Key_PageDown:
        return verticalScrollBar()->triggerAction(QAbstractSlider::SliderPageStepAdd);
    case Qt::Key_Left:
    case Qt::Key_Right:
    case Qt::Key_Up:
    case Qt::Key_Down:
        return walk(event->key());
    default:
        break;
    }
    QAbstractScrollArea::keyPressEvent(event);
}

/// From piece to piece; below all lanes are the marks.
void LanesView::walk(int key)
{
    if (m_mark)
        return walkMarks(key);
    if (!m_data)
        return;
    const LanesGeometry places = geometry();
    if (m_lanes.rows().empty()) {
        walkToMarks(static_cast<std::int64_t>(m_view.begin));
        return;
    }
    if (const auto next = pieceBeside(places, m_current, key)) {
        choose(next);
        reveal(*next);
    } else if (key == Qt::Key_Down && m_current && shownRowOf(places, *m_current)) {
        walkToMarks((m_data->tracks().beginOf(*m_current) + m_data->tracks().endOf(*m_current)) / 2);
    }
}

void LanesView::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void LanesView::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

} // namespace strata::views
