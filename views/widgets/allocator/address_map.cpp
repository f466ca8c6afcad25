// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/address_map.h"

#include "model/trace/frames.h"
#include "views/style/texts.h"
#include "views/style/type.h"
#include "views/widgets/hover_tip.h"

#include <QAccessible>
#include <QScrollBar>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

constexpr std::int64_t kLeastLine = std::int64_t{ 16 } << 10; // bytes: blocks are 512 and more
constexpr double kLeastZoom = 1.0 / 1024;
constexpr std::int64_t kTallest = 1 << 28; // pixels of the content

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
    m_lineHeight = qRound(20 * scale);
    m_headingHeight = qRound(36 * scale);
    m_labelWidth = static_cast<int>(m_text->width(u"0x888888888888  1,023 MiB")) + 2 * kGrid;
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

std::int64_t AddressMap::lineBytes(std::uint32_t section) const
{
    const auto whole = static_cast<double>(m_picture->sections[section].lineBytes);
    return std::max<std::int64_t>(kLeastLine, static_cast<std::int64_t>(whole / m_zoom));
}

std::int64_t AddressMap::bytesOfLine(std::uint32_t row) const
{
    return m_normalised ? std::max<std::int64_t>(m_picture->rows[row].spanBytes, 1)
                        : lineBytes(m_picture->rows[row].section);
}

void AddressMap::layOut()
{
    m_firstLine.clear();
    m_sectionTop.clear();
    if (!m_picture)
        return;
    std::int64_t top = 0;
    m_firstLine.reserve(m_picture->rows.size());
    for (const MapSection& section : m_picture->sections) {
        m_sectionTop.push_back(static_cast<int>(std::min<std::int64_t>(top, kTallest)));
        std::int64_t lines = 0;
        for (std::uint32_t r = section.firstRow; r < section.firstRow + section.rowCount; ++r) {
            m_firstLine.push_back(lines);
            lines += (m_picture->rows[r].spanBytes + bytesOfLine(r) - 1) / bytesOfLine(r);
        }
        top += m_headingHeight + lines * m_lineHeight;
    }
    m_sectionTop.push_back(static_cast<int>(std::min<std::int64_t>(top, kTallest)));
}

int AddressMap::contentHeight() const
{
    return m_sectionTop.empty() ? 0 : m_sectionTop.back() + kGrid;
}

int AddressMap::lineTop(std::uint32_t row, std::int64_t line) const
{
    return static_cast<int>(m_sectionTop[m_picture->rows[row].section] + m_headingHeight
        + (m_firstLine[row] + line) * m_lineHeight);
}

AddressMap::Line AddressMap::lineOf(std::uint32_t row, std::int64_t line) const
{
    const int room = std::max(1, viewport()->width() - m_labelWidth - kGrid);
    const std::int64_t whole = bytesOfLine(row);
    Line made;
    made.row = row;
    made.begin = line * whole;
    made.end = std::min(made.begin + whole, m_picture->rows[row].spanBytes);
    made.perByte = room / static_cast<double>(whole);
    const int width = qRound(static_cast<double>(made.end - made.begin) * made.perByte);
    made.bar = { m_labelWidth, lineTop(row, line) + 2, std::clamp(width, 1, room), m_lineHeight - 4 };
    return made;
}

std::optional<AddressMap::Line> AddressMap::lineAtContent(int y) const
{
    if (!m_picture || m_picture->rows.empty() || y < 0 || y >= m_sectionTop.back())
        return std::nullopt;
    const auto behind = std::ranges::upper_bound(m_sectionTop, y);
    const MapSection& section
        = m_picture->sections[static_cast<std::size_t>(behind - m_sectionTop.begin() - 1)];
    const int inside = y - *std::prev(behind) - m_headingHeight;
    if (inside < 0 || section.rowCount == 0)
        return std::nullopt;
    const std::int64_t line = inside / m_lineHeight;
    const auto first = m_firstLine.begin() + section.firstRow;
    const auto next = std::upper_bound(first, first + section.rowCount, line);
    const auto row = static_cast<std::uint32_t>(std::prev(next) - m_firstLine.begin());
    return lineOf(row, line - m_firstLine[row]);
}

std::optional<std::uint32_t> AddressMap::heldSection() const
{
    const int top = verticalScrollBar()->value();
    if (!m_picture || m_picture->rows.empty() || top >= m_sectionTop.back())
        return std::nullopt;
    const auto section
        = static_cast<std::uint32_t>(std::ranges::upper_bound(m_sectionTop, top) - m_sectionTop.begin() - 1);
    return m_sectionTop[section] < top ? std::optional(section) : std::nullopt;
}

int AddressMap::heldTop(std::uint32_t section) const
{
    return std::min(0, m_sectionTop[section + 1] - m_headingHeight - verticalScrollBar()->value());
}

QRect AddressMap::lineRect(std::uint32_t row, std::uint64_t address) const
{
    const auto offset = static_cast<std::int64_t>(address - m_picture->rows[row].address);
    return lineOf(row, offset / bytesOfLine(row)).bar.translated(0, -verticalScrollBar()->value());
}

void AddressMap::updateScrollBar()
{
    verticalScrollBar()->setRange(0, std::max(0, contentHeight() - viewport()->height()));
    verticalScrollBar()->setPageStep(viewport()->height());
    verticalScrollBar()->setSingleStep(m_lineHeight);
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
    const auto line = lineAtContent(std::min(contentY, contentHeight() - kGrid - 1));
    const int inView = contentY - verticalScrollBar()->value();
    const double most
        = static_cast<double>(std::ranges::max(m_picture->sections, {}, &MapSection::lineBytes).lineBytes)
        / static_cast<double>(kLeastLine);
    const double zoom = std::clamp(m_zoom * factor, kLeastZoom, std::max(most, 1.0));
    if (zoom == m_zoom)
        return;
    const double before = std::exchange(m_zoom, zoom);
    layOut();
    if (contentHeight() >= kTallest && zoom > before) { // no screen scrolls that far
        m_zoom = before;
        layOut();
        return;
    }
    updateScrollBar();
    if (line) {
        const int top = lineTop(line->row, line->begin / bytesOfLine(line->row));
        verticalScrollBar()->setValue(top - inView + m_lineHeight / 2);
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
    zoomAt(verticalScrollBar()->value() + m_headingHeight, factor);
}

void AddressMap::reveal(std::uint32_t row, std::optional<std::uint32_t> block, bool centred)
{
    const std::uint64_t address
        = block ? m_picture->map.blocks[*block].address : m_picture->rows[row].address;
    const auto offset = static_cast<std::int64_t>(address - m_picture->rows[row].address);
    const int top = lineTop(row, offset / bytesOfLine(row));
    QScrollBar* bar = verticalScrollBar();
    const int above = m_headingHeight; // which is held over lines
    if (centred)
        bar->setValue(top + m_lineHeight / 2 - viewport()->height() / 2);
    else if (top - above < bar->value())
        bar->setValue(top - above);
    else if (top + 2 * m_lineHeight > bar->value() + viewport()->height())
        bar->setValue(top + 2 * m_lineHeight - viewport()->height());
}

std::optional<MapHit> AddressMap::hitAt(const QPoint& at) const
{
    if (const auto held = heldSection(); held && at.y() < heldTop(*held) + m_headingHeight)
        return std::nullopt;
    const auto line = lineAtContent(at.y() + verticalScrollBar()->value());
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
    return { viewport()->width(), std::clamp(contentHeight(), 1, kHighest) };
}

} // namespace strata::views
