// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/address_map.h"

#include "model/trace/frames.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/hover_tip.h"
#include "views/widgets/own_keys.h"

#include <QAccessible>
#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

namespace strata::views {

namespace {

constexpr double kLeastZoom = 1.0 / 1024;
constexpr double kWheelStep = 1.25;
constexpr double kKeyStep = 2;

} // namespace

AddressMap::AddressMap(QWidget* parent)
    : QAbstractScrollArea(parent)
    , m_tip(new HoverTip(viewport()))
{
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    viewport()->setMouseTracking(true);
    viewport()->setAttribute(Qt::WA_OpaquePaintEvent);
    setAccessibleName(tr("Address map"));
    measure();
}

void AddressMap::measure()
{
    m_text.emplace(sized(font(), kAxisPx));
    const double scale = scaleOf(font());
    m_sizes = { qRound(20 * scale), qRound(36 * scale),
        static_cast<int>(m_text->width(u"0x888888888888  1,023 MiB")) + 2 * kGrid };
    layOut();
}

void AddressMap::changeEvent(QEvent* event)
{
    QAbstractScrollArea::changeEvent(event);
    if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
        measure();
        updateScrollBar();
    }
}

void AddressMap::setPicture(std::shared_ptr<const MapPicture> picture)
{
    const bool same = picture && m_picture && picture->device->follows(*m_picture->device);
    leave();
    m_chosen.reset();
    m_picture = std::move(picture);
    updateStyles();
    if (!same)
        m_zoom = 1;
    layOut();
    updateScrollBar();
    if (!same)
        verticalScrollBar()->setValue(0);
    viewport()->update();
    announce();
}

void AddressMap::setColours(const Palette& palette)
{
    m_palette = palette;
    m_tip->setColours(palette);
    m_styledFor = nullptr;
    updateStyles();
    viewport()->update();
}

void AddressMap::updateStyles()
{
    if (!m_picture || m_styledFor == m_picture->device.get())
        return;
    m_styledFor = m_picture->device.get();
    m_styles = GroupStyles(m_palette, *m_styledFor->byLine, m_styledFor->lineRank);
}

void AddressMap::setNormalised(bool on)
{
    m_normalised = on;
    layOut();
    updateScrollBar();
    leave();
    viewport()->update();
}

void AddressMap::layOut()
{
    m_lines = MapLines(m_picture, m_sizes, m_zoom, m_normalised);
}

std::optional<std::uint32_t> AddressMap::heldSection() const
{
    const int top = verticalScrollBar()->value();
    const auto section = m_lines.sectionAt(top);
    return section && m_lines.sectionTop(*section) < top ? section : std::nullopt;
}

int AddressMap::heldTop(std::uint32_t section) const
{
    return std::min(0, m_lines.sectionEnd(section) - m_sizes.heading - verticalScrollBar()->value());
}

QRect AddressMap::lineRect(std::uint32_t row, std::uint64_t address) const
{
    const auto offset = static_cast<std::int64_t>(address - m_picture->rows[row].address);
    return m_lines.lineOf(row, offset / bytesOfLine(row), viewport()->width())
        .bar.translated(0, -verticalScrollBar()->value());
}

void AddressMap::updateScrollBar()
{
    verticalScrollBar()->setRange(0, std::max(0, m_lines.height() - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(m_sizes.line);
}

void AddressMap::resizeEvent(QResizeEvent* event)
{
    QAbstractScrollArea::resizeEvent(event);
    updateScrollBar();
}

void AddressMap::scrollContentsBy(int, int)
{
    leave();
    viewport()->update();
}

void AddressMap::zoomAt(int contentY, double factor)
{
    if (!m_picture || m_normalised || m_picture->rows.empty())
        return;
    // What lies at that height stays there.
    const auto line = m_lines.lineAt(std::min(contentY, m_lines.height() - kGrid - 1), viewport()->width());
    const int inView = contentY - verticalScrollBar()->value();
    const double most
        = static_cast<double>(std::ranges::max(m_picture->sections, {}, &MapSection::lineBytes).lineBytes)
        / static_cast<double>(MapLines::kLeastLine);
    const double zoom = std::clamp(m_zoom * factor, kLeastZoom, std::max(most, 1.0));
    if (zoom == m_zoom)
        return;
    MapLines lines(m_picture, m_sizes, zoom, m_normalised);
    if (lines.height() >= MapLines::kTallest && zoom > m_zoom)
        return; // no screen scrolls that far
    m_zoom = zoom;
    m_lines = std::move(lines);
    updateScrollBar();
    if (line) {
        const int top = m_lines.lineTop(line->row, line->begin / bytesOfLine(line->row));
        verticalScrollBar()->setValue(top - inView + m_sizes.line / 2);
    }
    leave();
    viewport()->update();
}

void AddressMap::showAll()
{
    m_zoom = 1;
    layOut();
    updateScrollBar();
    verticalScrollBar()->setValue(0);
    leave();
    viewport()->update();
}

void AddressMap::zoomBy(double factor)
{
    zoomAt(verticalScrollBar()->value() + m_sizes.heading, factor);
}

void AddressMap::reveal(std::uint32_t row, std::optional<std::uint32_t> block, bool centred)
{
    const std::uint64_t address
        = block ? m_picture->map.blocks[*block].address : m_picture->rows[row].address;
    const auto offset = static_cast<std::int64_t>(address - m_picture->rows[row].address);
    const int top = m_lines.lineTop(row, offset / bytesOfLine(row));
    QScrollBar* bar = verticalScrollBar();
    const int above = m_sizes.heading; // which is held over lines
    if (centred)
        bar->setValue(top + m_sizes.line / 2 - viewport()->height() / 2);
    else if (top - above < bar->value())
        bar->setValue(top - above);
    else if (top + 2 * m_sizes.line > bar->value() + viewport()->height())
        bar->setValue(top + 2 * m_sizes.line - viewport()->height());
}

std::optional<MapHit> AddressMap::hitAt(const QPoint& at) const
{
    if (const auto held = heldSection(); held && at.y() < heldTop(*held) + m_sizes.heading)
        return std::nullopt;
    const auto line = m_lines.lineAt(at.y() + verticalScrollBar()->value(), viewport()->width());
    if (!line)
        return std::nullopt;
    MapHit hit{ line->row, std::nullopt };
    if (at.x() < line->bar.left())
        return hit; // its name
    if (at.x() > line->bar.right())
        return std::nullopt;
    const double offset
        = static_cast<double>(line->begin) + (at.x() + 0.5 - line->bar.left()) / line->perByte;
    const auto byte = std::clamp(static_cast<std::int64_t>(offset), line->begin, line->end - 1);
    hit.block = m_picture->blockAt(m_picture->rows[line->row].address + static_cast<std::uint64_t>(byte));
    return hit;
}

QStringList AddressMap::describe(const MapHit& hit) const
{
    const MapRow& row = m_picture->rows[hit.row];
    const DeviceData& device = *m_picture->device;
    const model::DeviceTrace& trace = *device.trace;
    const auto bytes = [](std::int64_t n) { return text::bytes(n); };
    if (!hit.block) {
        QStringList lines{ row.count > 1
                ? tr("%1 mapped in %2 stretches").arg(bytes(row.bytes)).arg(row.count)
                : tr("Segment of %1").arg(bytes(row.bytes)) };
        lines << tr("%1 in use, %2 free").arg(bytes(row.bytes - row.freeBytes), bytes(row.freeBytes));
        lines << tr("at %1").arg(text::address(row.address));
        return lines;
    }
    const model::MapBlock& block = m_picture->map.blocks[*hit.block];
    const QString place = tr("at %1").arg(text::address(block.address));
    if (block.isFree()) {
        const QString size = block.determined ? bytes(block.bytes) : tr("%1 at most").arg(bytes(block.bytes));
        QStringList lines{ tr("%1 free").arg(size) };
        if (m_picture->refused && m_picture->refused->hole == hit.block)
            lines << tr("the largest free block: the request asked for %1")
                         .arg(bytes(m_picture->refused->bytes));
        return lines << place;
    }
    const model::FrameId frame = model::userFrame(trace.recording(), trace.blocks().stack[block.block]);
    QStringList lines{ tr("%1 requested").arg(bytes(block.requestedBytes)) };
    lines << (frame.valid() ? text::utf8(model::frameLabel(trace.recording(), frame))
                            : tr("no stack recorded"));
    if (block.pending)
        lines << tr("freed, waits for another stream");
    if (!block.determined)
        lines << tr("takes at least %1: nothing tells its rounded size").arg(bytes(block.bytes));
    else if (block.unsplitBytes > 0)
        lines << tr("takes %1: %2 of rounding, %3 not split off")
                     .arg(bytes(block.bytes), bytes(block.roundingBytes), bytes(block.unsplitBytes));
    else if (block.roundingBytes > 0)
        lines << tr("takes %1: %2 of rounding").arg(bytes(block.bytes), bytes(block.roundingBytes));
    const model::EventIndex born = trace.blocks().birth(block.block);
    lines << (born < 0 ? tr("older than the trace") : tr("since %1").arg(text::event(born)));
    return lines << place;
}

void AddressMap::setChosen(std::optional<MapHit> hit)
{
    m_chosen = hit;
    viewport()->update();
    announce();
}

void AddressMap::choose(const MapHit& hit)
{
    setChosen(hit);
    Q_EMIT chosenByUser(hit);
}

void AddressMap::announce()
{
    QString text;
    if (m_picture && m_chosen)
        text = describe(*m_chosen).join(QStringLiteral(", "));
    else if (m_picture)
        text = tr("%1 reserved in %2 segments, %3 of it free")
                   .arg(text::bytes(m_picture->reservedBytes()),
                       text::count(std::ssize(m_picture->map.segments)),
                       text::bytes(m_picture->fragmentation.freeBytes));
    if (text == accessibleDescription())
        return;
    setAccessibleDescription(text);
    QAccessibleEvent event(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&event);
}

QSize AddressMap::fullSize() const
{
    constexpr int kHighest = 20'000;
    return { viewport()->width(), std::clamp(m_lines.height(), 1, kHighest) };
}

MapScene AddressMap::scene() const
{
    return { m_picture.get(), m_lines, m_styles, m_palette, *m_text, font(), viewport()->width(),
        devicePixelRatioF(), m_chosen, m_hovered, hasFocus() };
}

void AddressMap::paintVectors(QPainter& painter) const
{
    MapScene scene = this->scene();
    scene.hovered.reset();
    paintMap(painter, scene, QRect(QPoint(0, 0), fullSize()), 0, true);
}

void AddressMap::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    const MapScene scene = this->scene();
    paintMap(painter, scene, viewport()->rect(), verticalScrollBar()->value(), false);
    if (const auto held = heldSection()) {
        const QRect heading(0, heldTop(*held), viewport()->width(), m_sizes.heading);
        painter.fillRect(heading, m_palette[Palette::Role::Surface]);
        paintMapHeading(painter, scene, *held, heading.top());
        painter.fillRect(
            heading.left(), heading.bottom(), heading.width(), 1, m_palette[Palette::Role::Line]);
    }
}

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
            verticalScrollBar()->value() - static_cast<int>(std::lround(steps * 3 * m_sizes.line)));
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
