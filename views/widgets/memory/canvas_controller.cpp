// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_controller.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <cmath>

namespace strata::views {

namespace {

constexpr double kClickSlack = 4; // points a click may move
constexpr double kZoomPerNotch = 0.8;
constexpr double kNotch = 120; // eighths of a degree

/// Of a wheel event: how far along each direction, in notches. Touchpads give pixels.
QPointF notches(const QWheelEvent& event)
{
    if (!event.angleDelta().isNull())
        return QPointF(event.angleDelta()) / kNotch;
    return QPointF(event.pixelDelta()) / 50.0;
}

} // namespace

void CanvasController::wheel(const QWheelEvent& event)
{
    constexpr double kPanPerNotch = 80; // points
    const QPointF turn = notches(event);
    // Some platforms turn a wheel with Shift or Alt sideways themselves.
    const double along = std::abs(turn.y()) >= std::abs(turn.x()) ? turn.y() : turn.x();
    if (event.modifiers() & Qt::ShiftModifier)
        m_commands.panBy({ along * kPanPerNotch, 0 });
    else if (event.modifiers() & Qt::ControlModifier)
        m_commands.zoomYAt(event.position(), std::pow(kZoomPerNotch, along));
    else if (std::abs(turn.x()) > std::abs(turn.y()))
        m_commands.panBy({ turn.x() * kPanPerNotch, 0 });
    else if (turn.y() != 0)
        m_commands.zoomXAt(event.position(), std::pow(kZoomPerNotch, turn.y()));
}

void CanvasController::mousePress(const QMouseEvent& event)
{
    m_from = m_last = event.position();
    if (event.button() == Qt::MiddleButton || (event.button() == Qt::LeftButton && m_space))
        m_drag = Drag::Pan;
    else if (event.button() == Qt::LeftButton)
        m_drag = Drag::Pressed;
    updateCursor();
}

void CanvasController::mouseMove(const QMouseEvent& event)
{
    const QPointF at = event.position();
    switch (m_drag) {
    case Drag::None:
        m_commands.hover(at);
        break;
    case Drag::Pressed:
        if (std::abs(at.x() - m_from.x()) <= kClickSlack || m_afterDoubleClick)
            break;
        m_drag = Drag::Range;
        [[fallthrough]];
    case Drag::Range:
        m_commands.dragRange(m_from.x(), at.x());
        break;
    case Drag::Pan:
        m_commands.panBy(at - m_last);
        break;
    }
    m_last = at;
}

void CanvasController::mouseRelease(const QMouseEvent& event)
{
    const Drag drag = m_drag;
    m_drag = Drag::None;
    if (drag == Drag::Range)
        m_commands.dropRange(m_from.x(), event.position().x());
    else if (drag == Drag::Pressed && !m_afterDoubleClick)
        m_commands.click(event.position());
    m_afterDoubleClick = false;
    updateCursor();
}

void CanvasController::mouseDoubleClick(const QMouseEvent& event)
{
    if (event.button() != Qt::LeftButton)
        return;
    m_drag = Drag::Pressed;
    m_from = m_last = event.position();
    m_afterDoubleClick = true; // its release is no click
    m_commands.doubleClick(event.position());
}

bool CanvasController::keyPress(const QKeyEvent& event)
{
    if (event.key() != Qt::Key_Space)
        return false;
    m_space = true;
    updateCursor();
    return true;
}

bool CanvasController::keyRelease(const QKeyEvent& event)
{
    if (event.key() != Qt::Key_Space)
        return false;
    if (!event.isAutoRepeat())
        m_space = false;
    updateCursor();
    return true;
}

void CanvasController::abandon()
{
    if (m_drag == Drag::Range)
        m_commands.cancelRange();
    m_drag = Drag::None;
    m_space = false;
    updateCursor();
}

void CanvasController::updateCursor()
{
    if (m_drag == Drag::Pan)
        m_commands.showCursor(Qt::ClosedHandCursor);
    else if (m_space)
        m_commands.showCursor(Qt::OpenHandCursor);
    else
        m_commands.showCursor(Qt::CrossCursor);
}

} // namespace strata::views
