// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QWidget>

#include "views/style/palette.h"

namespace strata::views {

/// What hovering over a part of a picture says, over the picture and without moving it.
class HoverTip : public QWidget {
public:
    explicit HoverTip(QWidget* parent);
    void setColours(const Palette& palette);
    /// `lines`: the first strong. Placed beside `at`, inside the parent.
    void showAt(const QPoint& at, const QStringList& lines);
    [[nodiscard]] const QStringList& lines() const { return m_lines; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QStringList m_lines;
    Palette m_palette = Palette::light();
};

} // namespace strata::views
