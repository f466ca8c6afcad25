// SPDX-License-Identifier: GPL-3.0-or-later
// What mouse and keys do in the address map.
#include "views/widgets/allocator/address_map.h"

#include "views/widgets/hover_tip.h"
#include "views/widgets/own_keys.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr double kWheelStep = 1.25;
constexpr double kKeyStep = 2;

} // namespace

void AddressMap::hover(const QPoint& at)
{
    const auto hit = hitAt(at);
    if (!hit)
        return leave();
    if (m_hovered != hit) {
        m_hovered = hit;
        viewport()->update();
    }
    const QStringList lines = describe(*hit);
    m_tip->showAt(at, lines);
    Q_EMIT hovered(lines.join(QStringLiteral(", ")));
}

void AddressMap::leave()
{
    m_tip->hide();
    if (!std::exchange(m_hovered, std::nullopt))
        return;
    viewport()->update();
    Q_EMIT hovered({});
}

void AddressMap::mousePressEvent(QMouseEvent* event)
{
    if (!m_picture || (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton))
        return;
    m_dragFrom = event->pos();
    m_dragScroll = verticalScrollBar()->value();
}

void AddressMap::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_dragFrom)
        return hover(event->pos());
    const QPoint moved = event->pos() - *m_dragFrom;
    if (moved.manhattanLength() < QApplication::startDragDistance())
        return;
    verticalScrollBar()->setValue(m_dragScroll - moved.y());
}

void AddressMap::mouseReleaseEvent(QMouseEvent* event)
{
    if (!m_dragFrom)
        return;
    const QPoint moved = event->pos() - *std::exchange(m_dragFrom, std::nullopt);
    if (event->button() != Qt::LeftButton || moved.manhattanLength() >= QApplication::startDragDistance())
        return;
    if (const auto hit = hitAt(event->pos()))
        choose(*hit);
}

void AddressMap::mouseDoubleClickEvent(QMouseEvent* event)
{
    const auto hit = m_picture ? hitAt(event->pos()) : std::nullopt;
    if (!hit || !hit->block)
        return showAll();
    const model::MapBlock& block = m_picture->map.blocks[*hit->block];
    // A line of it alone, with as much of its neighbours.
    const double wanted = 2.0 * static_cast<double>(block.bytes) / static_cast<double>(bytesOfLine(hit->row));
    zoomAt(event->pos().y() + verticalScrollBar()->value(), 1 / std::max(wanted, 1e-6));
    reveal(hit->row, hit->block);
}

void AddressMap::wheelEvent(QWheelEvent* event)
{
    if (!m_picture)
        return;
    const QPoint turned = event->angleDelta();
    const double steps = (turned.y() != 0 ? turned.y() : turned.x()) / 120.0;
    if (event->modifiers() & Qt::ControlModifier) {
        zoomAt(static_cast<int>(event->position().y()) + verticalScrollBar()->value(),
            std::pow(kWheelStep, steps));
    } else {
        verticalScrollBar()->setValue(
            verticalScrollBar()->value() - static_cast<int>(std::lround(steps * 3 * m_lineHeight)));
    }
    hover(event->position().toPoint());
    event->accept();
}

void AddressMap::keyPressEvent(QKeyEvent* event)
{
    if (!m_picture || m_picture->rows.empty())
        return QAbstractScrollArea::keyPressEvent(event);
    const auto rows = static_cast<std::uint32_t>(m_picture->rows.size());
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down: {
        std::uint32_t row = m_chosen ? m_chosen->row : 0;
        if (m_chosen)
            row = event->key() == Qt::Key_Up ? std::max(row, 1U) - 1 : std::min(row + 1, rows - 1);
        choose({ row, std::nullopt });
        return reveal(row);
    }
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return zoomBy(kKeyStep);
    case Qt::Key_Minus:
        return zoomBy(1 / kKeyStep);
    case Qt::Key_PageUp:
        return verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepSub);
    case Qt::Key_PageDown:
        return verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepAdd);
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

bool AddressMap::event(QEvent* event)
{
    // Up and Down walk rows here; Left and Right step through events, as in the whole window.
    if (takesOwnKey(event, { Qt::Key_Up, Qt::Key_Down }))
        return true;
    return QAbstractScrollArea::event(event);
}

void AddressMap::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

void AddressMap::focusOutEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusOutEvent(event);
    viewport()->update();
}

bool AddressMap::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        leave();
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace strata::views
