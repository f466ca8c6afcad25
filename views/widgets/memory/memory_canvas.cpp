// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/memory_canvas.h"

#include "views/widgets/memory/curve_scale.h"
#include "views/widgets/memory/vector_painter.h"

#include <QEvent>
#include <QPainter>
#include <QSignalBlocker>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

double highestOf(const DeviceData& device)
{
    const auto& driver = device.summary->driver;
    return highestCurve(
        *device.summary, driver ? driver->processBytesPeak.value_or(driver->usedBytesPeak) : 0);
}

} // namespace

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
        updateHeights();
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
    keepPinned(*before, subject);
    takeDevice(subject.groups->device);
    m_subject = subject;
    m_curvesValid = false;
    m_store.goOn(subject, makeLook());
    {
        const QSignalBlocker once(m_viewport); // what it says is looked at below
        m_viewport.growTrace(&m_scene.clock());
        growHeights(*before);
    }
    updateScene();
    updateHover();
    pin(std::optional(m_overlay.pinned));
}

/// Numbers of what is marked and pinned, as the newer generation has them.
void MemoryCanvas::keepPinned(const DeviceData& before, const PictureSubject& subject)
{
    const DeviceData& device = *subject.groups->device;
    const auto groupNow = [&](std::uint32_t group) {
        return m_subject.groups ? subject.groups->table->sameGroup(*m_subject.groups->table, group)
                                : std::nullopt;
    };
    if (m_look.highlight.group)
        m_look.highlight.group = groupNow(*m_look.highlight.group);
    if (!m_overlay.pinned)
        return;
    Hit hit = *m_overlay.pinned;
    bool found = true;
    if (hit.kind == Hit::Kind::Block) {
        hit.block = device.trace->sameBlock(*before.trace, hit.block);
        found = hit.block.valid();
        hit.group = found ? subject.groups->table->groupOf(hit.block) : 0;
    } else if (hit.kind == Hit::Kind::Group) {
        const auto group = groupNow(hit.group);
        found = group.has_value();
        hit.group = group.value_or(0);
    } else if (hit.kind == Hit::Kind::Annotation) {
        const model::AnnotationSpan& span = (*before.annotations)[static_cast<std::size_t>(hit.annotation)];
        const auto now = std::ranges::find_if(*device.annotations, [&](const model::AnnotationSpan& other) {
            return other.name == span.name && other.beginNs == span.beginNs;
        });
        found = now != device.annotations->end();
        hit.annotation = static_cast<int>(now - device.annotations->begin());
    }
    m_overlay.pinned = found ? std::optional(hit) : std::nullopt;
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

std::array<double, kPictureModes> MemoryCanvas::heights() const
{
    const QRect stacked = CanvasLayout::make(size(), PictureMode::Stacked, 0).picture;
    std::array<double, kPictureModes> heights{};
    heights[pictureOf(PictureMode::Stacked)] = withHeadroom(highestOf(*m_scene.device), stacked.height(), 28);
    heights[pictureOf(PictureMode::Blocks)]
        = m_scene.device->strips ? static_cast<double>(m_scene.device->strips->height()) : 1;
    return heights;
}

void MemoryCanvas::growHeights(const DeviceData& before)
{
    const auto now = heights();
    m_viewport.growHeight(pictureOf(PictureMode::Stacked), now[pictureOf(PictureMode::Stacked)]);
    const model::StripLayout* const strips = m_scene.device->strips.get();
    if (!strips || strips == before.strips.get())
        return;
    m_viewport.growHeight(pictureOf(PictureMode::Blocks), now[pictureOf(PictureMode::Blocks)],
        [&before, strips](double height) {
            if (!before.strips || before.strips->stripAtY(static_cast<std::int64_t>(height)) < 0)
                return height;
            const std::int64_t y = strips->yOf(before.strips->addressAt(static_cast<std::int64_t>(height)));
            return y < 0 ? height : static_cast<double>(y);
        });
}

void MemoryCanvas::updateHeights()
{
    const auto now = heights();
    for (std::size_t picture = 0; picture < now.size(); ++picture)
        if (m_viewport.yLimits(picture).end != now[picture])
            m_viewport.setHeight(picture, now[picture]);
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
        paintPictures(surface);
        {
            QPainter painter(&m_frame);
            paintUnderCurves(painter);
        }
        paintCurves(m_frame, m_scene);
        QPainter painter(&m_frame);
        paintOverCurves(painter);
    } else {
        m_frame.fill(surface);
    }
    m_frameValid = true;
}

/// The latest picture; what was computed for all of it where that does not reach; else the ground. No pixel
/// twice.
void MemoryCanvas::paintPictures(QRgb surface)
{
    const QRect& area = m_scene.layout.picture;
    const QPoint origin(static_cast<int>(std::lround(area.left() * m_scene.ratio)),
        static_cast<int>(std::lround(area.top() * m_scene.ratio)));
    const QRect view(0, 0, m_scene.x.columns(), m_scene.y.rows());
    const ScaledPicture latest(m_store.latest(m_scene.mode), m_scene.x, m_scene.y, m_scene.clock());
    latest.paint(m_frame, origin, view);
    for (const QRect& part : around(m_frame.rect(), view.translated(origin)))
        fillPart(m_frame, part, surface);
    if (latest.covered() == view)
        return;
    const ScaledPicture overview(m_store.overview(m_scene.mode), m_scene.x, m_scene.y, m_scene.clock());
    for (const QRect& part : around(view, latest.covered())) {
        overview.paint(m_frame, origin, part);
        for (const QRect& bare : around(part, overview.covered()))
            fillPart(m_frame, bare.translated(origin), surface);
    }
}

void MemoryCanvas::paintUnderCurves(QPainter& painter)
{
    if (m_scene.mode == PictureMode::Blocks)
        paintStripGroups(painter, m_scene);
    paintAxes(painter, m_scene);
}

void MemoryCanvas::paintOverCurves(QPainter& painter)
{
    paintDriver(painter, m_scene);
    paintMarks(painter, m_scene);
    m_scene.notePlaces = placeNotes(m_scene);
    paintNotes(painter, m_scene);
    paintCurveLabels(painter, m_scene);
    paintAnnotations(painter, m_scene);
}

void MemoryCanvas::paintVectors(QPainter& painter)
{
    painter.fillRect(rect(), m_scene.colour(Palette::Role::Surface));
    if (!m_scene.device)
        return;
    updateCurves();
    if (m_scene.mode == PictureMode::Stacked && m_store.stacked() && m_store.detailed())
        paintStackedVectors(painter, m_scene, m_store.stacked()->picture, m_look.styles);
    else if (!m_store.latest(m_scene.mode).isNull())
        painter.drawImage(m_scene.layout.picture, m_store.latest(m_scene.mode).image);
    paintUnderCurves(painter);
    paintCurves(painter, m_scene);
    paintOverCurves(painter);
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
            updateHeights();
    }
    updateScene();
}

void MemoryCanvas::changeEvent(QEvent* event)
{
    if (event->type() == QEvent::FontChange)
        updateScene();
    QWidget::changeEvent(event);
}

} // namespace strata::views
