// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointF>

#include <cstdint>

class QKeyEvent;
class QMouseEvent;
class QWheelEvent;

namespace strata::views {

/// What mouse and wheel can ask of a canvas. Points are on the canvas.
class CanvasCommands {
public:
    virtual ~CanvasCommands() = default;
    virtual void zoomXAt(QPointF at, double factor) = 0;
    virtual void zoomYAt(QPointF at, double factor) = 0;
    virtual void panBy(QPointF points) = 0;
    virtual void dragRange(double fromX, double toX) = 0; ///< under way
    virtual void dropRange(double fromX, double toX) = 0;
    virtual void cancelRange() = 0;
    virtual void click(QPointF at) = 0;
    virtual void doubleClick(QPointF at) = 0;
    virtual void hover(QPointF at) = 0;
    virtual void showCursor(Qt::CursorShape shape) = 0;
};

/// Turns mouse, wheel and the space bar into commands: wheel zooms at the cursor, with Ctrl in height, with
/// Shift it pans; drag selects a range; middle drag or Space with drag pans; a click that hardly moved is a
/// click.
class CanvasController {
public:
    explicit CanvasController(CanvasCommands& commands)
        : m_commands(commands)
    {
    }

    void wheel(const QWheelEvent& event);
    void mousePress(const QMouseEvent& event);
    void mouseMove(const QMouseEvent& event);
    void mouseRelease(const QMouseEvent& event);
    void mouseDoubleClick(const QMouseEvent& event);
    [[nodiscard]] bool keyPress(const QKeyEvent& event); ///< true if the key was the space bar
    [[nodiscard]] bool keyRelease(const QKeyEvent& event);
    void abandon(); ///< Esc, or the focus went: forgets a drag that is under way
    [[nodiscard]] bool dragging() const { return m_drag == Drag::Range || m_drag == Drag::Pan; }

private:
    enum class Drag : std::uint8_t { None, Pressed, Range, Pan };
    void updateCursor();

    CanvasCommands& m_commands;
    Drag m_drag = Drag::None;
    QPointF m_from, m_last;
    bool m_space = false;
    bool m_afterDoubleClick = false;
};

} // namespace strata::views
