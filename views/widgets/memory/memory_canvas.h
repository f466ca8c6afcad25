// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/widgets/axis/viewport.h"
#include "views/widgets/memory/canvas_controller.h"
#include "views/widgets/memory/overlay_painter.h"
#include "views/widgets/memory/raster/picture_store.h"

namespace strata::views {

/// Memory over time, painted: the stacked or the blocks picture, curves, marks, annotations and axis.
///
/// A frame is painted in three layers. The picture comes from a worker thread as an image; until the one of
/// the current view is there, the last one is shown stretched to where it belongs. Curves, marks and axes are
/// painted over it anew for every view, at a cost per pixel column. Both together are kept as one image, over
/// which the selection, the crosshair and the hover label are painted with every move of the mouse.
///
/// Shows what it is told and asks for changes by signals; zoom is its own. GUI thread.
class MemoryCanvas : public QWidget, private CanvasCommands {
    Q_OBJECT
public:
    explicit MemoryCanvas(QWidget* parent = nullptr);
    ~MemoryCanvas() override;

    void setDevice(std::shared_ptr<const DeviceData> next); ///< nullptr: nothing to show
    void setSubject(const PictureSubject& subject); ///< groups and filter, once they are computed
    /// Groups and filter of a newer generation of what is shown (DeviceData::follows()), and that itself:
    /// zoom, marks and what is pinned stay, and the picture until its own is there.
    void goOn(const PictureSubject& subject);
    void setColours(const Palette& palette);
    void setMode(PictureMode mode);
    void setAxis(model::Axis axis);
    void setSelection(const std::optional<EventRange>& selection);
    void setNotes(std::vector<model::UserItem> notes); ///< and named ranges, of the device
    void setHighlight(const Highlight& highlight);
    void pin(const std::optional<Hit>& hit); ///< marks it; no signal

    [[nodiscard]] Viewport& viewport() { return m_viewport; }
    [[nodiscard]] const PictureStore& store() const { return m_store; }
    [[nodiscard]] const CanvasScene& scene() const { return m_scene; } ///< of the last frame
    [[nodiscard]] const GroupStyles& styles() const { return m_look.styles; }
    [[nodiscard]] PictureMode mode() const { return static_cast<PictureMode>(m_viewport.picture()); }
    [[nodiscard]] const Highlight& highlight() const { return m_look.highlight; }
    [[nodiscard]] const std::optional<Hit>& pinned() const { return m_overlay.pinned; }

    /// Zooms to the thing that is pinned, else to the selected range.
    void zoomToThing();
    /// Zooms in the middle of the view, or at the selected instant if that is in view.
    void zoomBy(double factor);
    /// The next thing up (1) or down (-1) at the instant: a layer of the stack, or a block. Pins it.
    void stepThing(int direction);
    void cancelDrag() { m_controller.abandon(); }

    /// The picture as vectors, without what follows the mouse.
    void paintVectors(QPainter& painter);

    [[nodiscard]] QSize sizeHint() const override { return { 960, 480 }; }
    [[nodiscard]] QSize minimumSizeHint() const override { return { 480, 240 }; }

Q_SIGNALS:
    void selectionWanted(const std::optional<strata::views::EventRange>& range);
    void thingPicked(const strata::views::Hit& hit); ///< a click, or the keyboard
    void hoverText(const QString& text);
    void detailed(); ///< the picture of the current view has come

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void mouseDoubleClickEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void keyReleaseEvent(QKeyEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    void zoomXAt(QPointF at, double factor) override;
    void zoomYAt(QPointF at, double factor) override;
    void panBy(QPointF points) override;
    void dragRange(double fromX, double toX) override;
    void dropRange(double fromX, double toX) override;
    void cancelRange() override;
    void click(QPointF at) override;
    void doubleClick(QPointF at) override;
    void hover(QPointF at) override;
    void showCursor(Qt::CursorShape shape) override { setCursor(shape); }

    void takeDevice(std::shared_ptr<const DeviceData> next);
    void updateScene(); ///< layout and mappings from size, mode and viewport; asks for the picture
    void updateCurves();
    const RasterLook& makeLook();
    void updateLook();
    void renderFrame();
    void updateHover();
    void describe();
    [[nodiscard]] double valueAtPoint(double x) const;

    PictureSubject m_subject;
    Viewport m_viewport{ kPictureModes, 512 }; // bytes: the allocator's smallest block
    PictureStore m_store;
    CanvasController m_controller;
    CanvasScene m_scene;
    CanvasOverlay m_overlay;
    RasterLook m_look;
    QImage m_frame;
    bool m_frameValid = false;
    bool m_curvesValid = false;
};

} // namespace strata::views
