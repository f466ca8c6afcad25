// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/allocator/map_painter.h"

#include "views/style/texts.h"
#include "views/style/type.h"

#include <QCoreApplication>
#include <QPainter>

#include <algorithm>
#include <cmath>

namespace strata::views {

using model::MapBlock;
using Role = Palette::Role;

namespace {

/// Brushes are made once a frame, not once a block.
struct Look {
    QBrush free, pending, overhead, unmapped, beforeTrace;
    QColor outline; ///< of what has free memory in it
    std::vector<QBrush> groups; ///< by group
};

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

void paintBlocks(QPainter& painter, const MapScene& scene, const MapLines::Line& line, const Look& look)
{
    const MapRow& row = scene.picture->rows[line.row];
    const QRect& bar = line.bar;
    const model::GroupTable& byLine = *scene.picture->device->byLine;
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
        const model::MapSegment& segment = scene.picture->map.segments[s];
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
        const std::span<const MapBlock> blocks = scene.picture->map.blocksOf(segment);
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

void paintRefused(QPainter& painter, const MapScene& scene, const MapLines::Line& line)
{
    const RefusedRequest& refused = *scene.picture->refused;
    const MapRow& row = scene.picture->rows[line.row];
    const MapBlock& hole = scene.picture->map.blocks[*refused.hole];
    const auto begin = static_cast<std::int64_t>(hole.address - row.address);
    const std::int64_t end = begin + refused.bytes;
    const bool last = line.end >= row.spanBytes; // what has no room stands out of it
    if (end <= line.begin || begin >= line.end)
        return;
    const double edge = scene.width - kGrid;
    const double x0 = line.x(std::max(begin, line.begin));
    const double x1 = std::min(edge, last ? line.x(end) : line.x(std::min(end, line.end)));
    QColor ground = scene.palette[Role::Bad];
    ground.setAlpha(40);
    const QRectF ghost(x0, line.bar.top() - 1, std::max(3.0, x1 - x0), line.bar.height() + 2);
    painter.fillRect(ghost, ground);
    painter.setPen(QPen(scene.palette[Role::Bad], 1.5, Qt::DashLine));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(ghost);
    if (begin < line.begin)
        return; // named in its first line
    const QString label = QCoreApplication::translate("strata::views::AddressMap", "%1 asked, %2 free here")
                              .arg(text::bytes(refused.bytes), text::bytes(hole.bytes));
    const double wide = scene.text.width(label) + kGrid;
    const double at = std::min(ghost.right() + kGrid / 2.0, edge - wide);
    const QRectF box(at, ghost.top() + 1, wide, ghost.height() - 2);
    painter.fillRect(box, scene.palette[Role::Surface]);
    painter.setPen(scene.palette[Role::Bad]);
    scene.text.draw(painter, box.left() + kGrid / 2.0,
        box.center().y() + scene.text.metrics().ascent() / 2 - scene.text.metrics().descent() / 2, label);
}

void paintMark(QPainter& painter, const MapScene& scene, const MapLines::Line& line)
{
    QRectF mark(line.bar);
    if (scene.chosen->block) {
        const MapBlock& block = scene.picture->map.blocks[*scene.chosen->block];
        const auto begin = static_cast<std::int64_t>(block.address - scene.picture->rows[line.row].address);
        if (begin + block.bytes <= line.begin || begin >= line.end)
            return;
        const double x0 = line.x(std::max(begin, line.begin));
        const double x1 = line.x(std::min(begin + block.bytes, line.end));
        mark.setLeft(x0);
        mark.setWidth(std::max(2.0, x1 - x0));
    }
    painter.setPen(QPen(scene.palette[scene.hasFocus ? Role::Accent : Role::Text], 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(mark);
}

void paintLine(QPainter& painter, const MapScene& scene, MapLines::Line line, int scrolled, const Look& look)
{
    const MapRow& row = scene.picture->rows[line.row];
    line.bar.translate(0, -scrolled);
    const double baseline
        = line.bar.center().y() + 1 + scene.text.metrics().ascent() / 2 - scene.text.metrics().descent() / 2;
    painter.setPen(scene.palette[Role::TextMuted]);
    scene.text.draw(
        painter, kGrid / 2.0, baseline, text::address(row.address + static_cast<std::uint64_t>(line.begin)));
    if (line.begin == 0) {
        const QString size = text::bytes(row.bytes);
        painter.setPen(scene.palette[Role::Text]);
        scene.text.draw(painter, scene.lines.sizes().label - kGrid - scene.text.width(size), baseline, size);
    }
    if (row.count > 1) // what is not mapped
        painter.fillRect(line.bar.left(), line.bar.center().y(), line.bar.width(), 1, look.unmapped);
    paintBlocks(painter, scene, line, look);
    if (line.end < row.spanBytes) { // it goes on in the next line
        const QPointF tip(line.bar.right() + kGrid - 2.0, line.bar.center().y() + 0.5);
        painter.setPen(QPen(scene.palette[Role::TextMuted], 1));
        painter.drawPolyline(QPolygonF{ tip + QPointF(-3, -3), tip, tip + QPointF(-3, 3) });
    }
    if (scene.hovered && scene.hovered->row == line.row && !scene.hovered->block)
        painter.fillRect(line.bar, QColor(scene.palette[Role::Selection]));
    if (scene.picture->refused && scene.picture->refused->hole && scene.picture->refused->row == line.row)
        paintRefused(painter, scene, line);
    if (scene.chosen && scene.chosen->row == line.row)
        paintMark(painter, scene, line);
}

} // namespace

void paintMapHeading(QPainter& painter, const MapScene& scene, std::uint32_t number, int top)
{
    const MapSection& section = scene.picture->sections[number];
    const QFont strong = bold(sized(scene.font, kAxisPx));
    painter.setFont(strong);
    painter.setPen(scene.palette[Role::Text]);
    const QFontMetrics metrics(strong);
    const int baseline = top + scene.lines.sizes().heading - kGrid;
    painter.drawText(kGrid / 2, baseline, section.title);
    const QString figures
        = QCoreApplication::translate("strata::views::AddressMap", "%1 in %2, %3 free")
              .arg(text::bytes(section.bytes),
                  text::counted(section.rowCount,
                      QCoreApplication::translate("strata::views::AddressMap", "1 segment"),
                      QCoreApplication::translate("strata::views::AddressMap", "%1 segments")),
                  text::bytes(section.freeBytes));
    painter.setPen(scene.palette[Role::TextMuted]);
    const double from = kGrid / 2.0 + metrics.horizontalAdvance(section.title) + kMargin;
    scene.text.draw(painter, from, baseline, figures);
    const QString scale = scene.lines.isNormalised()
        ? QCoreApplication::translate("strata::views::AddressMap", "each to its own scale")
        : QCoreApplication::translate("strata::views::AddressMap", "a full line: %1")
              .arg(text::bytes(scene.lines.lineBytes(number)));
    const double at = scene.width - kGrid - scene.text.width(scale);
    if (at > from + scene.text.width(figures) + kMargin)
        scene.text.draw(painter, at, baseline, scale);
}

void paintMap(QPainter& painter, const MapScene& scene, const QRect& area, int scrolled, bool isVector)
{
    painter.fillRect(area, scene.palette[Role::Surface]);
    if (!scene.picture)
        return;
    scene.text.setQuick(!isVector);
    Look look;
    const int scale = isVector ? 1 : std::max(1, qRound(scene.ratio));
    look.free = scene.palette[Role::Free];
    const QColor surface = scene.palette[Role::Surface];
    QColor veil = surface;
    veil.setAlpha(150);
    look.overhead = patternBrush(Pattern::Crossed, veil, surface, scale);
    look.pending = patternBrush(Pattern::Dotted, veil, scene.palette[Role::PendingFree], scale);
    look.unmapped = scene.palette[Role::TextMuted];
    look.outline = scene.palette[Role::TextMuted];
    look.beforeTrace = scene.styles.beforeTrace().brush(scale);
    look.groups.reserve(scene.styles.groupCount());
    for (std::uint32_t g = 0; g < scene.styles.groupCount(); ++g)
        look.groups.push_back(scene.styles.group(g).brush(scale));

    for (std::uint32_t s = 0; s < scene.picture->sections.size(); ++s) {
        const int top = scene.lines.sectionTop(s) - scrolled, end = scene.lines.sectionEnd(s) - scrolled;
        if (top > area.bottom())
            break;
        if (end < area.top())
            continue;
        paintMapHeading(painter, scene, s, top);
        int y = std::max(top + scene.lines.sizes().heading,
            area.top() - (area.top() - top - scene.lines.sizes().heading) % scene.lines.sizes().line);
        for (; y < std::min(end, area.bottom() + 1); y += scene.lines.sizes().line)
            if (const auto line = scene.lines.lineAt(y + scrolled, scene.width))
                paintLine(painter, scene, *line, scrolled, look);
    }
    scene.text.setQuick(true);
}

} // namespace strata::views
