// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/memory_canvas.h"

#include "views/style/texts.h"
#include "views/widgets/memory/canvas_frame.h"
#include "views/widgets/memory/canvas_zoom.h"
#include "views/widgets/memory/curve_scale.h"

#include <QFocusEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QSignalBlocker>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

MemoryCanvas::MemoryCanvas(QWidget* parent)
    : QWidget(parent)
    , m_controller(static_cast<CanvasCommands&>(*this))
{
    setMouseTracking(true);
    setFocusPolicy(Qt::StrongFocus);
    setAttribute(Qt::WA_OpaquePaintEvent);
    setCursor(Qt::CrossCursor);
    setAccessibleName(tr("Memory over time"));
    connect(&m_viewport, &Viewport::changed, this, &MemoryCanvas::updateScene);
    connect(&m_store, &PictureStore::updated, this, [this] {
        m_frameValid = false;
        updateHover();
        update();
        if (m_store.detailed())
            Q_EMIT detailed();
    });
}

MemoryCanvas::~MemoryCanvas() = default;

void MemoryCanvas::setDevice(std::shared_ptr<const DeviceData> next)
{
    const bool same = next && m_scene.device && next->trace == m_scene.device->trace;
    takeDevice(std::move(next));
    if (!m_scene.device) {
        m_subject = {};
        m_store.setSubject({});
        m_viewport.setTrace(nullptr);
    } else {
        if (!same) {
            m_overlay = CanvasOverlay{ .focused = m_overlay.focused };
            m_viewport.setTrace(&m_scene.clock());
        }
        setHeights(m_viewport, *m_scene.device, size());
    }
    m_curvesValid = false;
    updateScene();
}

void MemoryCanvas::takeDevice(std::shared_ptr<const DeviceData> next)
{
    const auto before = std::exchange(m_scene.device, std::move(next));
    if (!m_scene.device || !m_scene.device->strips)
        m_scene.strips.clear();
    else if (!before || before->strips != m_scene.device->strips)
        m_scene.strips = stripGroups(*m_scene.device->strips, m_scene.device->session->recording());
}

void MemoryCanvas::setSubject(const PictureSubject& subject)
{
    m_subject = subject;
    updateLook();
    m_store.setSubject(subject);
    updateScene();
}

void MemoryCanvas::goOn(const PictureSubject& subject)
{
    const auto before = m_scene.device;
    if (m_look.highlight.group)
        m_look.highlight.group = groupIn(subject, m_subject, *m_look.highlight.group);
    if (m_overlay.pinned)
        m_overlay.pinned = hitIn(subject, m_subject, *before, *m_overlay.pinned);
    takeDevice(subject.groups->device);
    m_subject = subject;
    m_curvesValid = false;
    m_store.goOn(subject, makeLook());
    {
        const QSignalBlocker once(m_viewport); // what it says is looked at below
        m_viewport.growTrace(&m_scene.clock());
        growHeights(m_viewport, *m_scene.device, *before, size());
    }
    updateScene();
    updateHover();
    pin(std::optional(m_overlay.pinned));
}

void MemoryCanvas::setColours(const Palette& palette)
{
    m_scene.palette = palette;
    updateLook();
    updateScene();
}

void MemoryCanvas::setMode(PictureMode mode)
{
    m_viewport.setPicture(pictureOf(mode));
}

void MemoryCanvas::setAxis(model::Axis axis)
{
    if (m_scene.device && !m_scene.clock().hasTimes())
        axis = model::Axis::Events;
    m_viewport.setAxis(axis);
}

void MemoryCanvas::setSelection(const std::optional<EventRange>& selection)
{
    m_overlay.selection = selection;
    if (m_overlay.pinned && m_overlay.pinned->kind == Hit::Kind::Note) {
        const model::UserItem& note = m_scene.notes[static_cast<std::size_t>(m_overlay.pinned->note)];
        if (selection != EventRange{ note.first, note.last })
            m_overlay.pinned.reset();
    }
    describe();
    update();
}

void MemoryCanvas::setNotes(std::vector<model::UserItem> notes)
{
    m_scene.notes = std::move(notes);
    m_scene.notePlaces.clear();
    // Numbers of notes mean others now.
    if (m_overlay.pinned && m_overlay.pinned->kind == Hit::Kind::Note)
        m_overlay.pinned.reset();
    if (m_overlay.hover.kind == Hit::Kind::Note)
        m_overlay.hover = {};
    m_frameValid = false;
    update();
}

void MemoryCanvas::setHighlight(const Highlight& highlight)
{
    if (highlight == m_look.highlight)
        return;
    m_look.highlight = highlight;
    m_store.setLook(m_look);
}

void MemoryCanvas::pin(const std::optional<Hit>& hit)
{
    m_overlay.pinned = hit;
    if (hit && hit->kind == Hit::Kind::Note && m_scene.device)
        m_overlay.pinnedCard = cardFor(m_scene, m_subject, *hit);
    describe();
    update();
}

const RasterLook& MemoryCanvas::makeLook()
{
    m_look.scale = std::max(static_cast<int>(devicePixelRatioF()), 1);
    if (m_subject.groups)
        m_look.styles = GroupStyles(m_scene.palette, *m_subject.groups->table, m_subject.groups->rank);
    return m_look;
}

void MemoryCanvas::updateLook()
{
    m_store.setLook(makeLook());
}

void MemoryCanvas::updateScene()
{
    m_frameValid = false;
    update();
    if (!m_scene.device || width() <= 0 || height() <= 0)
        return;
    m_scene.font = font();
    m_scene.ratio = devicePixelRatioF();
    m_scene.mode = mode();
    m_scene.annotationRows
        = AnnotationRows::make(m_scene.annotations(), CanvasLayout::annotationRoom(size()));
    m_scene.layout = CanvasLayout::make(size(), m_scene.mode, m_scene.annotationRows.count());
    const auto pixels = [this](int points) { return static_cast<int>(std::lround(points * m_scene.ratio)); };
    m_scene.x = XMapping(m_viewport.axis(), m_viewport.x(), pixels(m_scene.layout.width()));
    m_scene.y = YMapping(m_viewport.y(), pixels(m_scene.layout.picture.height()));
    m_scene.curveY = m_scene.y;
    if (m_scene.mode == PictureMode::Blocks) {
        const int rows = pixels(m_scene.layout.curves.height());
        m_scene.curveY = YMapping({ 0, withHeadroom(highestOf(*m_scene.device), rows, pixels(24)) }, rows);
    }
    m_store.want(m_scene.mode, m_scene.x, m_scene.y, m_viewport.xLimits(), m_viewport.yLimits());
}

void MemoryCanvas::updateCurves()
{
    if (m_curvesValid && m_scene.curves.x == m_scene.x)
        return;
    m_scene.curves = curveColumnsOf(m_scene.timeline(), m_scene.device->rounded(), m_scene.x);
    m_curvesValid = true;
}

void MemoryCanvas::renderFrame()
{
    const QSize pixels(static_cast<int>(std::lround(width() * m_scene.ratio)),
        static_cast<int>(std::lround(height() * m_scene.ratio)));
    const QRgb surface = m_scene.colour(Palette::Role::Surface).rgb();
    if (m_frame.size() != pixels)
        m_frame = makeRaster(pixels.width(), pixels.height(), surface);
    m_frame.setDevicePixelRatio(m_scene.ratio);
    if (m_scene.device && !m_frame.isNull()) {
        updateCurves();
        paintFrame(m_frame, m_scene, m_store);
    } else {
        m_frame.fill(surface);
    }
    m_frameValid = true;
}

void MemoryCanvas::paintVectors(QPainter& painter)
{
    painter.fillRect(rect(), m_scene.colour(Palette::Role::Surface));
    if (!m_scene.device)
        return;
    updateCurves();
    paintFrameVectors(painter, m_scene, m_store, m_look.styles);
}

void MemoryCanvas::paintEvent(QPaintEvent*)
{
    if (m_scene.device && m_scene.ratio != devicePixelRatioF()) {
        updateLook();
        updateScene();
    }
    if (!m_frameValid)
        renderFrame();
    QPainter painter(this);
    painter.drawImage(QPoint(0, 0), m_frame);
    if (m_scene.device)
        paintOverlay(painter, m_scene, m_overlay, size());
}

void MemoryCanvas::resizeEvent(QResizeEvent*)
{
    if (m_scene.device) {
        const bool all = m_viewport.showsAll();
        if (all)
            setHeights(m_viewport, *m_scene.device, size());
    }
    updateScene();
}

void MemoryCanvas::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange)
        updateScene();
    QWidget::changeEvent(event);
}

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
        zoomToExtent(m_viewport, *extent);
    else if (hit.onTimeAxis())
        zoomXAt(at, 0.25);
}

void MemoryCanvas::zoomToThing()
{
    if (!m_scene.device)
        return;
    if (m_overlay.pinned) {
        if (const auto extent = extentOf(m_scene, m_store.stacked(), *m_overlay.pinned))
            return zoomToExtent(m_viewport, *extent);
    }
    if (m_overlay.selection && !m_overlay.selection->isInstant())
        zoomToExtent(m_viewport,
            { { model::axisPosition(m_viewport.axis(), m_scene.clock(), m_overlay.selection->first),
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
