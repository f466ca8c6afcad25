// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_cell.h"

#include <QPainter>

#include <algorithm>

namespace strata::views {

namespace {
constexpr int kCellSwatch = 10;
} // namespace

void paintCell(QPainter& painter, const QRect& rect, const TableColumn& column, const TableCell& cell,
    const QuickText& quick, const Palette& palette)
{
    const QColor text = palette[Palette::Role::Text];
    const QColor muted = palette[Palette::Role::TextMuted];
    const double baseline
        = rect.top() + (rect.height() - quick.metrics().height()) / 2 + quick.metrics().ascent();
    double left = rect.left() + kCellPadding;
    double right = rect.left() + rect.width() - kCellPadding;

    if (column.number) {
        const double gap = quick.width(u" ");
        if (cell.text.isEmpty()) {
            painter.setPen(muted);
            const double start = std::max(left, right - quick.width(cell.note));
            quick.drawElided(painter, start, baseline, right - start + 0.5, cell.note);
            return;
        }
        if (!column.unit.isEmpty()) {
            const double unit = quick.width(column.unit);
            painter.setPen(muted);
            quick.drawElided(painter, right - unit, baseline, unit + 0.5, cell.note);
            right -= unit + gap;
        }
        painter.setPen(text);
        const double start = std::max(left, right - quick.width(cell.text));
        quick.drawElided(painter, start, baseline, right - start + 0.5, cell.text);
        return;
    }

    if (cell.swatch != TableCell::kNoSwatch) {
        const QRectF box(left, rect.top() + (rect.height() - kCellSwatch) / 2, kCellSwatch, kCellSwatch);
        painter.setBrushOrigin(box.topLeft());
        painter.fillRect(box, palette.groupFill(cell.swatch));
        painter.setBrushOrigin(0, 0);
        left += kCellSwatch + kCellPadding;
    }
    painter.setPen(text);
    const double taken = quick.drawElided(painter, left, baseline, right - left, cell.text);
    if (cell.note.isEmpty())
        return;
    if (taken > 0)
        left += taken + kCellPadding;
    painter.setPen(muted);
    quick.drawElided(painter, left, baseline, right - left, cell.note);
}

} // namespace strata::views
