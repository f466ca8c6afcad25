// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/contents/document/rail.h"

#include "views/contents/document/page_list.h"
#include "views/style/icons.h"
#include "views/style/type.h"

#include <QButtonGroup>
#include <QMenu>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

namespace strata::views {

namespace {

constexpr double kRailWidth = 146; // before scaling
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

void Rail::addGroup(const QString& title, const QString& id)
{
    auto* heading = new QPushButton(title, this);
    heading->setProperty("railHeading", true);
    heading->setFont(sized(heading->font(), kAxisPx));
    heading->setFocusPolicy(Qt::TabFocus);
    heading->setToolTip(tr("Fold %1 to its icons, or show its words").arg(title));
    auto* row = new QBoxLayout(QBoxLayout::TopToBottom);
    row->setSpacing(0);
    const int end = m_layout->count() - 1; // before the stretch
    m_layout->insertWidget(end, heading);
    m_layout->insertLayout(end + 1, row);
    const std::size_t group = m_groups.size();
    m_groups.push_back({ title, id, heading, row, {} });
    connect(heading, &QPushButton::clicked, this, [this, group] {
        m_groups[group].folded = !m_groups[group].folded;
        arrange();
        Q_EMIT foldedChanged();
    });
}

void Rail::addPage(const Page& page, const QString& group)
{
    if (m_groups.empty() || m_groups.back().title != group)
        addGroup(group, page.id());
    const int index = static_cast<int>(m_entries.size());
    auto* button = new QToolButton(this);
    button->setText(page.title());
    button->setCheckable(true);
    button->setFocusPolicy(Qt::TabFocus);
    button->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(button, &QWidget::customContextMenuRequested, this, [this, button, index](const QPoint& at) {
        QMenu menu;
        menu.addAction(
            tr("Open in a Window of Its Own"), this, [this, index] { Q_EMIT tearOffChosen(index); });
        menu.exec(button->mapToGlobal(at));
    });
    m_group->addButton(button, index);
    m_groups.back().row->addWidget(button);
    m_groups.back().pages.push_back(index);
    const int key = pageKinds()[static_cast<std::size_t>(index)].key;
    const QString tip = key >= 0 ? tr("%1 (Ctrl+%2)").arg(page.title()).arg(key) : page.title();
    m_entries.push_back({ button, page.iconName(), page.title(), tip, {} });
    showEntry(m_entries.back());
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

void Rail::setAbsence(int index, const QString& why)
{
    Entry& entry = m_entries[static_cast<std::size_t>(index)];
    if (entry.absence == why)
        return;
    entry.absence = why;
    showEntry(entry);
}

void Rail::showEntry(const Entry& entry)
{
    const bool absent = !entry.absence.isEmpty();
    entry.button->setToolTip(
        absent ? QStringLiteral("%1\n%2").arg(entry.toolTip, entry.absence) : entry.toolTip);
    entry.button->setAccessibleDescription(entry.absence);
    entry.button->setProperty("absent", absent);
    entry.button->style()->unpolish(entry.button); // its look hangs on the property
    entry.button->style()->polish(entry.button);
    entry.button->setIcon(
        absent ? icon(entry.icon, m_palette[Palette::Role::Other]) : icon(entry.icon, m_palette));
}

void Rail::setCompact(bool compact)
{
    m_compact = compact;
    arrange();
}

QStringList Rail::folded() const
{
    QStringList ids;
    for (const Group& group : m_groups)
        if (group.folded)
            ids.append(group.id);
    return ids;
}

void Rail::setFolded(const QStringList& groups)
{
    for (Group& group : m_groups)
        group.folded = groups.contains(group.id);
    arrange();
}

void Rail::arrange()
{
    for (const Group& group : m_groups) {
        const bool icons = m_compact || group.folded;
        group.heading->setVisible(!m_compact);
        group.row->setDirection(
            group.folded && !m_compact ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
        for (const int page : group.pages) {
            QToolButton* button = m_entries[static_cast<std::size_t>(page)].button;
            button->setToolButtonStyle(icons ? Qt::ToolButtonIconOnly : Qt::ToolButtonTextBesideIcon);
            button->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
        }
    }
    setFixedWidth(scaled(m_compact ? kCompactWidth : kRailWidth, font()));
}

void Rail::setPalette(const Palette& palette)
{
    m_palette = palette;
    const int size = scaled(18.0, font());
    for (const Entry& entry : m_entries) {
        entry.button->setIconSize(QSize(size, size));
        showEntry(entry);
    }
    arrange();
}

} // namespace strata::views
