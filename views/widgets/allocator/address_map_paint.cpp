// SPDX-License-Identifier: GPL-3.0-or-later
// How the address map looks.
#include "views/widgets/allocator/address_map.h"

#include "views/style/texts.h"
#include "views/style/type.h"

#include <QPainter>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

namespace strata::views {

using model::MapBlock;
using Role = Palette::Role;

/// Brushes are made once a frame, not once a block.
struct AddressMap::Look {
    QBrush free, pending, overhead, unmapped, beforeTrace;
    QColor outline; ///< of what has free memory in it
    std::vector<QBrush> groups; ///< by group
};

namespace {

/// What is drawn in one column of pixels: of several that share it the largest.
struct Column {
    int x = -1;
    const MapBlock* largest = nullptr;

    [[nodiscard]] bool take(int at, const MapBlock& block)
    {
        if (at != x)
            return false;
        if (largest == nullptr || block.bytes > largest->bytes)
            largest = &block;
        return true;
    }
};

} // namespace

void AddressMap::paintSection(QPainter& painter, std::uint32_t number, int top) const
{
    const MapSection& section = m_picture->sections[number];
    const QFont strong = bold(sized(font(), kAxisPx));
    painter.setFont(strong);
    painter.setPen(m_palette[Role::Text]);
    const QFontMetrics metrics(strong);
    const int baseline = top + m_headingHeight - kGrid;
    painter.drawText(kGrid / 2, baseline, section.title);
    const QString figures = tr("%1 in %2, %3 free")
                                .arg(text::bytes(section.bytes),
                                    text::counted(section.rowCount, tr("1 segment"), tr("%1 segments")),
                                    text::bytes(section.freeBytes));
    painter.setPen(m_palette[Role::TextMuted]);
    const double from = kGrid / 2.0 + metrics.horizontalAdvance(section.title) + kMargin;
    m_text->draw(painter, from, baseline, figures);
    const QString scale = m_normalised ? tr("each to its own scale")
                                       : tr("a full line: %1").arg(text::bytes(lineBytes(number)));
    const double at = viewport()->width() - kGrid - m_text->width(scale);
    if (at > from + m_text->width(figures) + kMargin)
        m_text->draw(painter, at, baseline, scale);
}

void AddressMap::paintBlocks(QPainter& painter, const Line& line, const Look& look) const
{
    const MapRow& row = m_picture->rows[line.row];
    const QRect& bar = line.bar;
    const model::GroupTable& byLine = *m_picture->device->byLine;
    const auto offset
        = [&](std::uint64_t address) { return static_cast<std::int64_t>(address - row.address); };
    const auto pixel = [&](std::int64_t at) {
        return static_cast<int>(std::lround(line.x(std::clamp(at, line.begin, line.end))));
    };
    const auto fill = [&](int x0, int x1, const MapBlock& block) {
        if (block.isFree())
            return; // the ground
        const QRect rect(x0, bar.top(), x1 - x0, bar.height());
        const std::uint32_t group = byLine.groupOf(block.block);
        const bool older = block.block.isOlder() && !byLine.stackOf(group).valid();
        painter.fillRect(rect, older ? look.beforeTrace : look.groups[group]);
        if (block.pending)
            painter.fillRect(rect, look.pending);
    };
    Column column;
    const auto flush = [&] {
        if (column.largest != nullptr)
            fill(column.x, column.x + 1, *column.largest);
        column = {};
    };
    for (std::uint32_t s = row.first; s < row.first + row.count; ++s) {
        const model::MapSegment& segment = m_picture->map.segments[s];
        const std::int64_t begin = offset(segment.address), end = begin + segment.bytes;
        if (end <= line.begin)
            continue;
        if (begin >= line.end)
            break;
        const int left = pixel(begin), right = std::max(pixel(end), left + 1);
        const QRect whole(left, bar.top(), right - left, bar.height());
        painter.fillRect(whole, look.free);
        if (segment.freeBytes() > 0 && whole.width() > 2) { // else it hardly stands out from the ground
            painter.setPen(look.outline);
            painter.drawRect(whole.adjusted(0, 0, -1, -1));
        }
        const std::span<const MapBlock> blocks = m_picture->map.blocksOf(segment);
        auto block = std::ranges::partition_point(
            blocks, [&](const MapBlock& b) { return offset(b.end()) <= line.begin; });
        for (; block != blocks.end() && offset(block->address) < line.end; ++block) {
            const std::int64_t from = offset(block->address), to = offset(block->end());
            const int x0 = pixel(from), x1 = pixel(to);
            if (x1 <= x0) {
                if (!column.take(x0, *block)) {
                    flush();
                    column.x = x0;
                    column.largest = &*block;
                }
                continue;
            }
            if (column.x >= 0 && column.x < x0)
                flush();
            column = {};
            const int gap = x1 - x0 >= 4 && to <= line.end ? 1 : 0; // of ground between neighbours
            fill(x0, x1 - gap, *block);
            const std::int64_t more = block->roundingBytes + block->unsplitBytes;
            if (block->isFree() || block->pending || more <= 0)
                continue;
            const int tail = pixel(to - more);
            if (tail < x1 - gap)
                painter.fillRect(QRect(tail, bar.top(), x1 - gap - tail, bar.height()), look.overhead);
        }
        flush();
    }
}

void AddressMap::paintRefused(QPainter& painter, const Line& line) const
{
    const RefusedRequest& refused = *m_picture->refused;
    const MapRow& row = m_picture->rows[line.row];
    const MapBlock& hole = m_picture->map.blocks[*refused.hole];
    const auto begin = static_cast<std::int64_t>(hole.address - row.address);
    const std::int64_t end = begin + refused.bytes;
    const bool last = line.end >= row.spanBytes; // what has no room stands out of it
    if (end <= line.begin || begin >= line.end)
        return;
    const double edge = viewport()->width() - kGrid;
    const double x0 = line.x(std::max(begin, line.begin));
    const double x1 = std::min(edge, last ? line.x(end) : line.x(std::min(end, line.end)));
    QColor ground = m_palette[Role::Bad];
    ground.setAlpha(40);
    const QRectF ghost(x0, line.bar.top() - 1, std::max(3.0, x1 - x0), line.bar.height() + 2);
    painter.fillRect(ghost, ground);
    painter.setPen(QPen(m_palette[Role::Bad], 1.5, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(ghost);
    if (begin < line.begin)
        return; // named in its first line
    const QString label
        = tr("%1 asked, %2 free here").arg(text::bytes(refused.bytes), text::bytes(hole.bytes));
    const double wide = m_text->width(label) + kGrid;
    const double at = std::min(ghost.right() + kGrid / 2.0, edge - wide);
    const QRectF box(at, ghost.top() + 1, wide, ghost.height() - 2);
    painter.fillRect(box, m_palette[Role::Surface]);
    painter.setPen(m_palette[Role::Bad]);
    m_text->draw(painter, box.left() + kGrid / 2.0,
        box.center().y() + m_text->metrics().ascent() / 2 - m_text->metrics().descent() / 2, label);
}

void AddressMap::paintMark(QPainter& painter, const Line& line) const
{
    QRectF mark(line.bar);
    if (m_chosen->block) {
        const MapBlock& block = m_picture->map.blocks[*m_chosen->block];
        const auto begin = static_cast<std::int64_t>(block.address - m_picture->rows[line.row].address);
        if (begin + block.bytes <= line.begin || begin >= line.end)
            return;
        const double x0 = line.x(std::max(begin, line.begin));
        const double x1 = line.x(std::min(begin + block.bytes, line.end));
        mark.setLeft(x0);
        mark.setWidth(std::max(2.0, x1 - x0));
    }
    painter.setPen(QPen(m_palette[hasFocus() ? Role::Accent : Role::Text], 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(mark);
}

void AddressMap::paintLine(QPainter& painter, Line line, int scrolled, const Look& look, bool vector) const
{
    const MapRow& row = m_picture->rows[line.row];
    line.bar.translate(0, -scrolled);
    const double baseline
        = line.bar.center().y() + 1 + m_text->metrics().ascent() / 2 - m_text->metrics().descent() / 2;
    painter.setPen(m_palette[Role::TextMuted]);
    m_text->draw(
        painter, kGrid / 2.0, baseline, text::address(row.address + static_cast<std::uint64_t>(line.begin)));
    if (line.begin == 0) {
        const QString size = text::bytes(row.bytes);
        painter.setPen(m_palette[Role::Text]);
        m_text->draw(painter, m_labelWidth - kGrid - m_text->width(size), baseline, size);
    }
    if (row.count > 1) // what is not mapped
        painter.fillRect(line.bar.left(), line.bar.center().y(), line.bar.width(), 1, look.unmapped);
    paintBlocks(painter, line, look);
    if (line.end < row.spanBytes) { // it goes on in the next line
        const QPointF tip(line.bar.right() + kGrid - 2.0, line.bar.center().y() + 0.5);
        painter.setPen(QPen(m_palette[Role::TextMuted], 1));
        painter.drawPolyline(QPolygonF{ tip + QPointF(-3, -3), tip, tip + QPointF(-3, 3) });
    }
    if (!vector && m_hovered && m_hovered->row == line.row && !m_hovered->block)
        painter.fillRect(line.bar, QColor(m_palette[Role::Selection]));
    if (m_picture->refused && m_picture->refused->hole && m_picture->refused->row == line.row)
        paintRefused(painter, line);
    if (m_chosen && m_chosen->row == line.row)
        paintMark(painter, line);
}

void AddressMap::paintContent(QPainter& painter, const QRect& area, int scrolled, bool vector) const
{
    painter.fillRect(area, m_palette[Role::Surface]);
    if (!m_picture)
        return;
    m_text->setQuick(!vector);
    Look look;
    const int scale = vector ? 1 : std::max(1, qRound(devicePixelRatioF()));
    look.free = m_palette[Role::Free];
    const QColor surface = m_palette[Role::Surface];
    QColor veil = surface;
    veil.setAlpha(150);
    look.overhead = patternBrush(Pattern::Crossed, veil, surface, scale);
    look.pending = patternBrush(Pattern::Dotted, veil, m_palette[Role::PendingFree], scale);
    look.unmapped = m_palette[Role::TextMuted];
    look.outline = m_palette[Role::TextMuted];
    look.beforeTrace = m_styles.beforeTrace().brush(scale);
    look.groups.reserve(m_styles.groupCount());
    for (std::uint32_t g = 0; g < m_styles.groupCount(); ++g)
        look.groups.push_back(m_styles.group(g).brush(scale));

    for (std::uint32_t s = 0; s < m_picture->sections.size(); ++s) {
        const int top = m_sectionTop[s] - scrolled, end = m_sectionTop[s + 1] - scrolled;
        if (top > area.bottom())
            break;
        if (end < area.top())
            continue;
        paintSection(painter, s, top);
        int y = std::max(
            top + m_headingHeight, area.top() - (area.top() - top - m_headingHeight) % m_lineHeight);
        for (; y < std::min(end, area.bottom() + 1); y += m_lineHeight)
            if (const auto line = lineAtContent(y + scrolled))
                paintLine(painter, *line, scrolled, look, vector);
    }
    m_text->setQuick(true);
}

void AddressMap::paintVectors(QPainter& painter) const
{
    paintContent(painter, QRect(QPoint(0, 0), fullSize()), 0, true);
}

void AddressMap::paintEvent(QPaintEvent*)
{
    QPainter painter(viewport());
    paintContent(painter, viewport()->rect(), verticalScrollBar()->value(), false);
    if (const auto held = heldSection()) {
        const QRect heading(0, heldTop(*held), viewport()->width(), m_headingHeight);
        painter.fillRect(heading, m_palette[Role::Surface]);
        paintSection(painter, *held, heading.top());
        painter.fillRect(heading.left(), heading.bottom(), heading.width(), 1, m_palette[Role::Line]);
    }
}

} // namespace strata::views
