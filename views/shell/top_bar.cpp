// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/shell/top_bar.h"

#include "views/shell/actions.h"
#include "views/style/icons.h"
#include "views/style/type.h"

#include <QHBoxLayout>
#include <QToolButton>

namespace strata::views {

TopBar::TopBar(const QList<QAction*>& actions, QWidget* parent)
    : QWidget(parent)
    , m_row(new QHBoxLayout)
    , m_place(*m_row, 1)
{
    setObjectName(QStringLiteral("topBar"));
    setAttribute(Qt::WA_StyledBackground);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(kGrid, 6, kGrid, 6);
    layout->setSpacing(kGrid);
    for (QAction* action : actions) {
        auto* button = new QToolButton;
        button->setDefaultAction(action);
        button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        button->setFocusPolicy(Qt::TabFocus);
        layout->addWidget(button);
        m_buttons.append(button);
    }
    m_row->addStretch(); // where there is no part, which takes all of it
    layout->addLayout(m_row, 1);
}

void TopBar::setPart(QWidget* part)
{
    m_place.show(part);
}

void TopBar::setPalette(const Palette& palette)
{
    for (const QToolButton* button : m_buttons) {
        QAction* action = button->defaultAction();
        action->setIcon(icon(action->property(kIconName).toString(), palette));
    }
}

} // namespace strata::views
