// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/memory_canvas.h"

#include "views/style/texts.h"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>

// What mouse and keyboard do to the canvas; memory_canvas.cpp has what it shows.

namespace strata::views {

double MemoryCanvas::valueAtPoint(double x) const
{
    return m_scene.x.valueAt((x - m_scene.layout.left()) * m_scene.ratio);
}

void MemoryCanvas::zoomXAt(QPointF at, double factor)
{
    if (m_scene.device)
        m_viewport.zoomX(valueAtPoint(at.x()), factor);
}

void MemoryCanvas::zoomYAt(QPointF at, double factor)
{
    if (m_scene.device)
        m_viewport.zoomY(m_scene.y.bytesAt((at.y() - m_scene.layout.picture.top()) * m_scene.ratio), factor);
}

void MemoryCanvas::panBy(QPointF points)
{
    if (!m_scene.device)
        return;
    const double x = points.x() / m_scene.layout.width() * m_viewport.x().width();
    const double y = points.y() / m_scene.layout.picture.height() * m_viewport.y().width();
    m_viewport.pan(-x, y);
}

void MemoryCanvas::dragRange(double fromX, double toX)
{
    m_overlay.drag = { fromX, toX };
    update();
}

void MemoryCanvas::cancelRange()
{
    m_overlay.drag.reset();
    update();
}

void MemoryCanvas::dropRange(double fromX, double toX)
{
    m_overlay.drag.reset();
    update();
    if (m_scene.device && m_scene.hasEvents())
        Q_EMIT selectionWanted(rangeBetween(m_scene, fromX, toX));
}

void MemoryCanvas::click(QPointF at)
{
    if (!m_scene.device)
        return;
    const Hit hit = hitAt(m_scene, m_subject, m_store.stacked(), at);
    if (hit.kind == Hit::Kind::Nothing)
        return;
    if (hit.kind == Hit::Kind::Annotation) {
        const model::AnnotationSpan& span = m_scene.annotations()[static_cast<std::size_t>(hit.annotation)];
        Q_EMIT selectionWanted(EventRange{ std::min(span.first + 1, span.last), span.last });
    } else if (hit.kind == Hit::Kind::Note) {
        const model::UserItem& note = m_scene.notes[static_cast<std::size_t>(hit.note)];
        Q_EMIT selectionWanted(EventRange{ note.first, note.last });
    } else if (m_scene.hasEvents()) {
        Q_EMIT selectionWanted(EventRange{ hit.event, hit.event });
    }
    pin(hit);
    Q_EMIT thingPicked(hit);
    update();
}

void MemoryCanvas::doubleClick(QPointF at)
{
    if (!m_scene.device)
        return;
    const Hit hit = hitAt(m_scene, m_subject, m_store.stacked(), at);
    const auto extent = extentOf(m_scene, m_store.stacked(), hit);
    if (extent)
        zoomToExtent(*extent);
    else if (hit.onTimeAxis())
        zoomXAt(at, 0.25);
}

void MemoryCanvas::zoomToExtent(const Extent& extent)
{
    const double margin = std::max(extent.x.width() * 0.08, XMapping::narrowest(m_viewport.axis()) / 2);
    const Span x{ extent.x.begin - margin, extent.x.end + margin };
    Span y = m_viewport.y();
    if (extent.y && extent.y->width() > 0) {
        // A block fills a tenth of the height at least, with its neighbours around it.
        const double height = extent.y->width() * 8;
        const double middle = (extent.y->begin + extent.y->end) / 2;
        if (height < y.width())
            y = { middle - height / 2, middle + height / 2 };
    }
    const Span before = m_viewport.x();
    m_viewport.show(x, y);
    if (m_viewport.x() == before && !extent.y)
        m_viewport.zoomX((x.begin + x.end) / 2, 0.5);
}

void MemoryCanvas::zoomToThing()
{
    if (!m_scene.device)
        return;
    if (m_overlay.pinned) {
        if (const auto extent = extentOf(m_scene, m_store.stacked(), *m_overlay.pinned))
            return zoomToExtent(*extent);
    }
    if (m_overlay.selection && !m_overlay.selection->isInstant())
        zoomToExtent({ { model::axisPosition(m_viewport.axis(), m_scene.clock(), m_overlay.selection->first),
                           XMapping::endOf(m_viewport.axis(), m_scene.clock(), m_overlay.selection->last) },
            {} });
}

void MemoryCanvas::zoomBy(double factor)
{
    if (!m_scene.device)
        return;
    const Span view = m_viewport.x();
    double anchor = (view.begin + view.end) / 2;
    if (m_overlay.selection) {
        const double at = model::axisPosition(m_viewport.axis(), m_scene.clock(), m_overlay.selection->first);
        if (view.contains(at))
            anchor = at;
    }
    m_viewport.zoomX(anchor, factor);
}

void MemoryCanvas::stepThing(int direction)
{
    if (!m_scene.device)
        return;
    updateCurves();
    const auto things = thingsAt(m_scene, m_subject, m_store.stacked(), m_overlay.selection);
    if (things.empty())
        return;
    auto at = things.end();
    if (m_overlay.pinned)
        at = std::find_if(
            things.begin(), things.end(), [&](const Hit& h) { return h.sameThing(*m_overlay.pinned); });
    std::ptrdiff_t next = direction > 0 ? 0 : std::ssize(things) - 1;
    if (at != things.end())
        next = std::clamp<std::ptrdiff_t>(at - things.begin() + direction, 0, std::ssize(things) - 1);
    m_overlay.pinned = things[static_cast<std::size_t>(next)];
    Q_EMIT thingPicked(*m_overlay.pinned);
    describe();
    update();
}

void MemoryCanvas::hover(QPointF at)
{
    m_overlay.mouse = at;
    updateHover();
    update();
}

void MemoryCanvas::updateHover()
{
    if (!m_overlay.mouse || !m_scene.device)
        return;
    updateCurves();
    m_overlay.hover = hitAt(m_scene, m_subject, m_store.stacked(), *m_overlay.mouse);
    m_overlay.card = cardFor(m_scene, m_subject, m_overlay.hover);
    m_overlay.swatch = swatchFor(m_look.styles, m_overlay.hover);
    Q_EMIT hoverText(cardText(m_overlay.card));
}

void MemoryCanvas::describe()
{
    if (!m_scene.device)
        return;
    QStringList parts;
    if (m_overlay.selection)
        parts << (m_overlay.selection->isInstant()
                ? text::instant(m_scene.clock(), m_overlay.selection->first)
                : tr("events %1 to %2")
                      .arg(text::count(m_overlay.selection->first), text::count(m_overlay.selection->last)));
    if (m_overlay.pinned)
        parts << cardText(cardFor(m_scene, m_subject, *m_overlay.pinned));
    if (parts.isEmpty())
        parts << tr(
            "Requested and reserved memory by event or time. Arrow keys step by event, up and down by layer "
            "or block.");
    setAccessibleDescription(parts.join(QStringLiteral(". ")));
}

void MemoryCanvas::wheelEvent(QWheelEvent* event)
{
    m_controller.wheel(*event);
    event->accept();
}

void MemoryCanvas::mousePressEvent(QMouseEvent* event)
{
    m_controller.mousePress(*event);
}
void MemoryCanvas::mouseMoveEvent(QMouseEvent* event)
{
    m_controller.mouseMove(*event);
}
void MemoryCanvas::mouseReleaseEvent(QMouseEvent* event)
{
    m_controller.mouseRelease(*event);
}
void MemoryCanvas::mouseDoubleClickEvent(QMouseEvent* event)
{
    m_controller.mouseDoubleClick(*event);
}

void MemoryCanvas::keyPressEvent(QKeyEvent* event)
{
    if (!m_controller.keyPress(*event))
        QWidget::keyPressEvent(event);
}

void MemoryCanvas::keyReleaseEvent(QKeyEvent* event)
{
    if (!m_controller.keyRelease(*event))
        QWidget::keyReleaseEvent(event);
}

void MemoryCanvas::leaveEvent(QEvent*)
{
    m_overlay.mouse.reset();
    Q_EMIT hoverText({});
    update();
}

void MemoryCanvas::focusInEvent(QFocusEvent* event)
{
    m_overlay.focused = event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason
        || event->reason() == Qt::ShortcutFocusReason;
    update();
}

void MemoryCanvas::focusOutEvent(QFocusEvent*)
{
    m_overlay.focused = false;
    m_controller.abandon();
    update();
}

} // namespace strata::views
