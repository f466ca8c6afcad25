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
    , m_place(new QHBoxLayout)
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
    layout->addLayout(m_place, 1);
}

void TopBar::setPart(QWidget* part)
{
    if (part == m_part)
        return;
    if (m_part) {
        m_place->removeWidget(m_part);
        m_part->hide();
    }
    m_part = part;
    if (!part)
        return;
    m_place->addWidget(part, 1);
    part->show();
}

void TopBar::setPalette(const Palette& palette)
{
    for (const QToolButton* button : m_buttons) {
        QAction* action = button->defaultAction();
        action->setIcon(icon(action->property(kIconName).toString(), palette));
    }
}

} // namespace strata::views
