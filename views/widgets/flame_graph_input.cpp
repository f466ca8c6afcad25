// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/flame_graph.h"

#include "views/widgets/own_keys.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

namespace strata::views {

void FlameGraph::mousePressEvent(QMouseEvent* event)
{
    if (!m_tree || (event->button() != Qt::LeftButton && event->button() != Qt::MiddleButton))
        return;
    m_dragFrom = event->pos();
    m_dragPiece = m_piece;
    m_dragScroll = verticalScrollBar()->value();
}

void FlameGraph::mouseMoveEvent(QMouseEvent* event)
{
    if (!m_dragFrom) {
        hover(event->pos());
        return;
    }
    const QPoint moved = event->pos() - *m_dragFrom;
    if (moved.manhattanLength() < QApplication::startDragDistance())
        return;
    leave();
    const double cost = moved.x() * (m_dragPiece.end - m_dragPiece.begin) / viewport()->width();
    verticalScrollBar()->setValue(m_dragScroll - moved.y());
    setPiece({ m_dragPiece.begin - cost, m_dragPiece.end - cost });
}

void FlameGraph::mouseReleaseEvent(QMouseEvent* event)
{
    if (!m_dragFrom)
        return;
    const QPoint moved = event->pos() - *m_dragFrom;
    m_dragFrom.reset();
    if (event->button() != Qt::LeftButton || m_space
        || moved.manhattanLength() >= QApplication::startDragDistance())
        return;
    if (const std::optional<FlameBox> box = boxAt(event->pos())) {
        // A run of narrow frames opens at its parent: that is as wide as they can get together.
        const Node target = box->merged > 0 ? m_tree->parent(box->node) : box->node;
        choose(target);
        zoomTo(target);
    }
}

void FlameGraph::wheelEvent(QWheelEvent* event)
{
    if (!m_tree)
        return;
    const QPoint turned = event->angleDelta();
    const double steps = (turned.y() != 0 ? turned.y() : turned.x()) / 120.0;
    const double length = m_piece.end - m_piece.begin;
    m_animation.stop();
    if (event->modifiers() & Qt::ControlModifier) {
        verticalScrollBar()->setValue(
            verticalScrollBar()->value() - static_cast<int>(std::lround(steps * 3 * m_levelHeight)));
    } else if ((event->modifiers() & Qt::ShiftModifier) || turned.y() == 0) {
        const double cost = steps * length / 10;
        setPiece({ m_piece.begin - cost, m_piece.end - cost });
    } else {
        const double x = std::clamp(event->position().x() / viewport()->width(), 0.0, 1.0);
        const double centre = m_piece.begin + x * length;
        const double zoomed = length * std::pow(0.8, steps);
        setPiece({ centre - x * zoomed, centre + (1 - x) * zoomed });
    }
    hover(event->position().toPoint());
    event->accept();
}

FlameGraph::Node FlameGraph::neighbour(Node node, int key) const
{
    switch (key) {
    case Qt::Key_Up:
        return m_tree->parent(node);
    case Qt::Key_Down: {
        const std::span<const Node> children = m_tree->children(node);
        return children.empty() ? node : children.front();
    }
    case Qt::Key_Left:
    case Qt::Key_Right: {
        if (node == 0)
            return node;
        const std::span<const Node> siblings = m_tree->children(m_tree->parent(node));
        const std::size_t rank = m_tree->rank(node);
        if (key == Qt::Key_Left)
            return rank > 0 ? siblings[rank - 1] : node;
        return rank + 1 < siblings.size() ? siblings[rank + 1] : node;
    }
    default:
        return node;
    }
}

void FlameGraph::keyPressEvent(QKeyEvent* event)
{
    if (!m_tree) {
        QAbstractScrollArea::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
    case Qt::Key_Down:
    case Qt::Key_Left:
    case Qt::Key_Right: {
        const Node next = neighbour(m_current, event->key());
        if (next == m_current)
            return;
        choose(next);
        // A frame outside the window or too narrow to be seen is brought into it.
        const Piece piece = pieceOf(next);
        if (piece.begin >= m_piece.end || piece.end <= m_piece.begin)
            zoomTo(m_tree->parent(next));
        return;
    }
    case Qt::Key_Return:
    case Qt::Key_Enter:
        zoomTo(m_current);
        return;
    case Qt::Key_Backspace:
        goBack();
        return;
    case Qt::Key_PageUp:
        verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepSub);
        return;
    case Qt::Key_PageDown:
        verticalScrollBar()->triggerAction(QScrollBar::SliderPageStepAdd);
        return;
    case Qt::Key_Space:
        m_space = true;
        return;
    default:
        QAbstractScrollArea::keyPressEvent(event);
    }
}

void FlameGraph::keyReleaseEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Space && !event->isAutoRepeat())
        m_space = false;
    QAbstractScrollArea::keyReleaseEvent(event);
}

void FlameGraph::focusInEvent(QFocusEvent* event)
{
    QAbstractScrollArea::focusInEvent(event);
    viewport()->update();
}

bool FlameGraph::event(QEvent* event)
{
    // The arrows walk between frames here, whatever they do in the window.
    if (takesOwnKey(event,
            { Qt::Key_Up, Qt::Key_Down, Qt::Key_Left, Qt::Key_Right, Qt::Key_Space, Qt::Key_Backspace }))
        return true;
    return QAbstractScrollArea::event(event);
}

void FlameGraph::contextMenuEvent(QContextMenuEvent* event)
{
    if (!m_tree)
        return;
    Node node = m_current;
    if (event->reason() == QContextMenuEvent::Mouse) {
        const std::optional<FlameBox> box = boxAt(viewport()->mapFrom(this, event->pos()));
        if (!box || box->merged > 0)
            return;
        node = box->node;
    }
    leave();
    Q_EMIT menuRequested(node, event->globalPos());
}

bool FlameGraph::viewportEvent(QEvent* event)
{
    if (event->type() == QEvent::Leave)
        leave();
    return QAbstractScrollArea::viewportEvent(event);
}

} // namespace strata::views
