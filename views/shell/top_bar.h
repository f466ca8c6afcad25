// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "views/shell/part_place.h"
#include "views/style/palette.h"

class QAction;
class QHBoxLayout;
class QToolButton;

namespace strata::views {

/// The bar at the top: buttons for what can be opened, then the part of the content that is shown.
class TopBar : public QWidget {
    Q_OBJECT
public:
    explicit TopBar(const QList<QAction*>& actions, QWidget* parent = nullptr);

    void setPart(QWidget* part); ///< nullptr: none; stays the content's
    void setPalette(const Palette& palette); ///< gives the actions their icons

private:
    QList<QToolButton*> m_buttons;
    QHBoxLayout* m_row; // of the part
    PartPlace m_place;
};

} // namespace strata::views
