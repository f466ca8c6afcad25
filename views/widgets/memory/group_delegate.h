// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStyledItemDelegate>

namespace strata::views {

/// Draws the first column of a GroupTableModel as other tables show a line: its colour as in the picture,
/// whether the row is selected or not, then its name without the folder and the function in grey.
class GroupDelegate : public QStyledItemDelegate {
    Q_OBJECT
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(
        QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace strata::views
