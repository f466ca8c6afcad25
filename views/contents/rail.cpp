// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/rail.h"

#include "views/style/icons.h"
#include "views/style/type.h"

#include <QButtonGroup>
#include <QMenu>
#include <QToolButton>
#include <QVBoxLayout>

namespace strata::views {

namespace {

constexpr double kWidth = 124; // before scaling
constexpr double kCompactWidth = 44;

} // namespace

Rail::Rail(QWidget* parent)
    : QWidget(parent)
    , m_layout(new QVBoxLayout(this))
    , m_group(new QButtonGroup(this))
{
    setObjectName(QStringLiteral("rail"));
    setAttribute(Qt::WA_StyledBackground);
    setAccessibleName(tr("Pages"));
    m_layout->setContentsMargins(0, kGrid, 0, kGrid);
    m_layout->setSpacing(0);
    m_layout->addStretch();
    connect(m_group, &QButtonGroup::idClicked, this, &Rail::chosen);
}

void Rail::addPage(const Page& page)
{
    const int index = static_cast<int>(m_entries.size());
    auto* button = new QToolButton(this);
    button->setText(page.title());
    button->setCheckable(true);
    button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
    button->setFocusPolicy(Qt::TabFocus);
    if (index < 9)
        button->setToolTip(tr("%1 (Ctrl+%2)").arg(page.title()).arg(index + 1));
    button->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(button, &QWidget::customContextMenuRequested, this, [this, button, index](const QPoint& at) {
        QMenu menu;
        menu.addAction(
            tr("Open in a Window of Its Own"), this, [this, index] { Q_EMIT tearOffChosen(index); });
        menu.exec(button->mapToGlobal(at));
    });
    m_group->addButton(button, index);
    m_layout->insertWidget(index, button);
    m_entries.push_back({ button, page.iconName(), page.title() });
}

void Rail::setCurrent(int index)
{
    if (QAbstractButton* button = m_group->button(index))
        button->setChecked(true);
}

void Rail::setTornOff(int index, bool tornOff)
{
    const Entry& entry = m_entries[static_cast<std::size_t>(index)];
    entry.button->setText(tornOff ? tr("%1 ↗").arg(entry.title) : entry.title);
}

void Rail::setCompact(bool compact)
{
    m_compact = compact;
    for (const Entry& entry : m_entries)
        entry.button->setToolButtonStyle(compact ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
    setFixedWidth(scaled(compact ? kCompactWidth : kWidth, font()));
}

void Rail::setPalette(const Palette& palette)
{
    const int size = scaled(18.0, font());
    for (const Entry& entry : m_entries) {
        entry.button->setIcon(icon(entry.icon, palette));
        entry.button->setIconSize(QSize(size, size));
    }
    setCompact(m_compact);
}

} // namespace strata::views
