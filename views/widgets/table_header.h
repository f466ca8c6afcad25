// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QHeaderView>

#include "views/style/palette.h"

namespace strata::views {

/// The flat header of a table: small grey titles, aligned like their columns, an arrow on the sorted one.
class TableHeader : public QHeaderView {
    Q_OBJECT
public:
    explicit TableHeader(QWidget* parent);
    void setColours(const Palette& palette);
    void setPadding(int pixels); ///< beside a title: as its cells have it
    [[nodiscard]] QSize sizeHint() const override;

protected:
    void paintSection(QPainter* painter, const QRect& rect, int logicalIndex) const override;
    void paintEvent(QPaintEvent* event) override;

private:
    Palette m_palette = Palette::light();
    int m_padding = 8;
};

} // namespace strata::views
