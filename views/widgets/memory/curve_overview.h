// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/widgets/memory/canvas_scene.h"
#include "views/widgets/memory/overlay_painter.h"

#include <optional>

namespace strata::views {

/// The curves of all of a device's trace in a small picture, drawn as the large one draws them: requested,
/// reserved, the capacity, the peak, out-of-memory. The pointer reads an instant, a click or Enter chooses
/// it; left and right arrow walk through the columns. Costs one span of each curve per pixel column at a
/// change of size, axis or device; painting costs the columns alone.
class CurveOverview : public QWidget {
    Q_OBJECT
public:
    explicit CurveOverview(QWidget* parent = nullptr);

    /// nullptr: it says what it waits for in the same room.
    void setDevice(std::shared_ptr<const DeviceData> device);
    void setWaitingFor(const QString& text);
    void setAxis(model::Axis axis);
    void setColours(const Palette& palette);
    /// Takes the place of `earlier`, which shows an older generation: what is pointed at stays.
    void goOnFrom(const CurveOverview& earlier);

    [[nodiscard]] const CanvasScene& scene() const { return m_scene; }
    [[nodiscard]] bool waits() const { return !m_scene.device; }
    /// The instant that the keyboard or else the mouse points at.
    [[nodiscard]] std::optional<model::EventIndex> pointedAt() const;
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

Q_SIGNALS:
    void eventChosen(strata::model::EventIndex event);
    void hoverText(const QString& text);

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void updateScene();
    void updateHover();
    void describe();
    [[nodiscard]] CanvasLayout layoutFor(QSize size) const;
    [[nodiscard]] double pointOfCursor() const; ///< the middle of its column
    void moveCursor(int points);

    CanvasScene m_scene;
    CanvasOverlay m_overlay;
    model::Axis m_axis = model::Axis::Events;
    QString m_waitingFor;
    std::optional<double> m_cursor; // of the keyboard: a place on the axis
    bool m_mouse = false; // what the overlay shows is the mouse's
};

} // namespace strata::views
