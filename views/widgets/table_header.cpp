// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/table_header.h"

#include <QPainter>

#include <algorithm>

namespace strata::views {

TableHeader::TableHeader(QWidget* parent)
    : QHeaderView(Qt::Horizontal, parent)
{
    setSectionsClickable(true);
    setSectionsMovable(true);
    setHighlightSections(false);
    setSortIndicatorShown(true);
    setMinimumSectionSize(40);
    viewport()->setMouseTracking(true);
}

void TableHeader::setColours(const Palette& palette)
{
    m_palette = palette;
    viewport()->update();
}

void TableHeader::setPadding(int pixels)
{
    m_padding = pixels;
    viewport()->update();
}

QSize TableHeader::sizeHint() const
{
    return { QHeaderView::sizeHint().width(), fontMetrics().height() + 12 };
}

void TableHeader::paintEvent(QPaintEvent* event)
{
    QPainter painter(viewport());
    painter.fillRect(event->rect(), m_palette[Palette::Role::Surface]);
    painter.fillRect(
        QRect(0, viewport()->height() - 1, viewport()->width(), 1), m_palette[Palette::Role::Line]);
    painter.end();
    QHeaderView::paintEvent(event);
}

void TableHeader::paintSection(QPainter* painter, const QRect& rect, int logicalIndex) const
{
    constexpr int kArrow = 7;
    const bool sorted = isSortIndicatorShown() && logicalIndex == sortIndicatorSection();
    const bool hovered = rect.contains(viewport()->mapFromGlobal(QCursor::pos())) && underMouse();
    painter->save();
    painter->fillRect(rect, m_palette[Palette::Role::Surface]);
    if (hovered)
        painter->fillRect(rect, m_palette[Palette::Role::Hover]);
    painter->fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), m_palette[Palette::Role::Line]);

    const QVariant alignment = model()->headerData(logicalIndex, orientation(), Qt::TextAlignmentRole);
    const bool right = alignment.isValid() && (alignment.toInt() & Qt::AlignRight) != 0;
    const QString title = model()->headerData(logicalIndex, orientation(), Qt::DisplayRole).toString();
    QRect text = rect.adjusted(m_padding, 0, -m_padding, -1);
    if (sorted) {
        const int before = text.right() - fontMetrics().horizontalAdvance(title) - kArrow - 4;
        const int x = right ? std::max(text.left(), before) : text.right() - kArrow;
        const double y = text.center().y() + 0.5;
        const double tip = sortIndicatorOrder() == Qt::AscendingOrder ? -2.0 : 2.0;
        const QPointF arrow[]
            = { { x + 0.0, y - tip }, { x + kArrow / 2.0, y + tip }, { x + double(kArrow), y - tip } };
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(QPen(m_palette[Palette::Role::Accent], 1.6));
        painter->drawPolyline(arrow, 3);
        text.adjust(right ? kArrow + 4 : 0, 0, right ? 0 : -kArrow - 4, 0);
    }
    painter->setPen(m_palette[sorted ? Palette::Role::Text : Palette::Role::TextMuted]);
    painter->drawText(text, static_cast<int>((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter),
        fontMetrics().elidedText(title, Qt::ElideRight, text.width()));
    painter->restore();
}

} // namespace strata::views
