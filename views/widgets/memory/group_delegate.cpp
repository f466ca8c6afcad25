// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/group_delegate.h"

#include "views/widgets/memory/group_table_model.h"

#include <QApplication>
#include <QPainter>

namespace strata::views {

namespace {
constexpr int kPadding = 3, kSwatch = 12, kSwatchGap = 8;
} // namespace

void GroupDelegate::paint(
    QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const
{
    QStyleOptionViewItem cell = option;
    initStyleOption(&cell, index);
    const QStyle& style = cell.widget ? *cell.widget->style() : *QApplication::style();
    cell.text.clear();
    cell.icon = QIcon();
    cell.features = QStyleOptionViewItem::None;
    style.drawControl(QStyle::CE_ItemViewItem, &cell, painter, cell.widget);

    const QRect swatch(
        option.rect.left() + kPadding, option.rect.center().y() - kSwatch / 2 + 1, kSwatch, kSwatch);
    painter->save();
    painter->setBrushOrigin(swatch.topLeft());
    painter->fillRect(swatch, index.data(GroupTableModel::kFillRole).value<QBrush>());
    painter->setFont(cell.font);
    const QFontMetrics metrics(cell.font);
    QRect room = option.rect.adjusted(0, 0, -kPadding, 0);
    room.setLeft(swatch.right() + 1 + kSwatchGap);
    const auto draw = [&](const QString& text, Qt::TextElideMode mode, const QColor& ink) {
        const QString shown = metrics.elidedText(text, mode, room.width());
        painter->setPen(ink);
        painter->drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine, shown);
        room.setLeft(room.left() + metrics.horizontalAdvance(shown) + kSwatchGap);
    };
    // A file's name begins it, a line ends it.
    draw(index.data(GroupTableModel::kNameRole).toString(), Qt::ElideMiddle,
        cell.palette.color(QPalette::Text));
    if (const QString note = index.data(GroupTableModel::kNoteRole).toString();
        room.width() > metrics.averageCharWidth() * 4 && !note.isEmpty())
        draw(note, Qt::ElideRight, cell.palette.color(QPalette::PlaceholderText));
    painter->restore();
}

} // namespace strata::views
