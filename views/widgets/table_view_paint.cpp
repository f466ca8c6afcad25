// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_header.h"
#include "views/widgets/table_view.h"

#include <QPaintEvent>
#include <QPainter>

#include <algorithm>

namespace strata::views {

namespace {
constexpr int kCellPadding = 8;
constexpr int kCellSwatch = 10;
} // namespace

void TableView::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    painter.fillRect(event->rect(), m_palette[Palette::Role::Surface]);
    if (!m_table || !m_table->source())
        return;

    const int first = rowAt(event->rect().top());
    const int last = std::min(rowAt(event->rect().bottom()), m_table->rowCount() - 1);
    const std::vector<char> selected = selectedAmong(first, last - first + 1);
    const std::vector<TableColumn>& columns = m_table->source()->columns();
    const int width = std::min(viewport()->width(), m_header->length() - m_header->offset());

    for (int row = first; row <= last; ++row) {
        const QRect line(0, (row - firstVisibleRow()) * m_rowHeight, width, m_rowHeight);
        if (selected[static_cast<std::size_t>(row - first)])
            painter.fillRect(line, m_palette[Palette::Role::Selection]);
        else if (row == m_hoverRow)
            painter.fillRect(line, m_palette[Palette::Role::Hover]);
        for (int visual = 0; visual < m_header->count(); ++visual) {
            const int column = m_header->logicalIndex(visual);
            const QRect rect(m_header->sectionViewportPosition(column), line.top(),
                m_header->sectionSize(column), m_rowHeight);
            if (rect.right() < event->rect().left() || rect.left() > event->rect().right())
                continue;
            paintCell(painter, rect, columns[static_cast<std::size_t>(column)], m_table->cell(row, column));
        }
    }

    const QModelIndex current = currentIndex();
    if (current.isValid() && current.row() >= first && current.row() <= last) {
        const QRect line(0, (current.row() - firstVisibleRow()) * m_rowHeight, width, m_rowHeight);
        painter.fillRect(QRect(0, line.top(), 3, line.height()), m_palette[Palette::Role::Accent]);
        if (hasFocus()) {
            painter.setPen(m_palette[Palette::Role::Accent]);
            painter.drawRect(visualRect(current).adjusted(0, 0, -1, -1));
        }
    }
}

void TableView::paintCell(
    QPainter& painter, const QRect& rect, const TableColumn& column, const TableCell& cell) const
{
    const QColor text = m_palette[Palette::Role::Text];
    const QColor muted = m_palette[Palette::Role::TextMuted];
    const double baseline
        = rect.top() + (rect.height() - m_text->metrics().height()) / 2 + m_text->metrics().ascent();
    double left = rect.left() + kCellPadding;
    double right = rect.left() + rect.width() - kCellPadding;

    if (column.number) {
        const double gap = m_text->width(u" ");
        if (cell.text.isEmpty()) {
            painter.setPen(muted);
            const double start = std::max(left, right - m_text->width(cell.note));
            m_text->drawElided(painter, start, baseline, right - start + 0.5, cell.note);
            return;
        }
        if (!column.unit.isEmpty()) {
            const double unit = m_text->width(column.unit);
            painter.setPen(muted);
            m_text->drawElided(painter, right - unit, baseline, unit + 0.5, cell.note);
            right -= unit + gap;
        }
        painter.setPen(text);
        const double start = std::max(left, right - m_text->width(cell.text));
        m_text->drawElided(painter, start, baseline, right - start + 0.5, cell.text);
        return;
    }

    if (cell.swatch != TableCell::kNoSwatch) {
        const QRectF box(left, rect.top() + (rect.height() - kCellSwatch) / 2, kCellSwatch, kCellSwatch);
        painter.setBrushOrigin(box.topLeft());
        painter.fillRect(box, m_palette.groupFill(cell.swatch));
        painter.setBrushOrigin(0, 0);
        left += kCellSwatch + kCellPadding;
    }
    painter.setPen(text);
    const double taken = m_text->drawElided(painter, left, baseline, right - left, cell.text);
    if (cell.note.isEmpty())
        return;
    if (taken > 0)
        left += taken + kCellPadding;
    painter.setPen(muted);
    m_text->drawElided(painter, left, baseline, right - left, cell.note);
}

} // namespace strata::views
