// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/segmented.h"

#include <QButtonGroup>
#include <QHBoxLayout>
#include <QToolButton>

namespace strata::views {

Segmented::Segmented(const QString& name, const QList<Choice>& choices, QWidget* parent)
    : QWidget(parent)
    , m_buttons(new QButtonGroup(this))
    , m_choices(choices)
{
    setObjectName(QStringLiteral("segmented")); // as the style sheet knows it
    setAccessibleName(name);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    for (int i = 0; i < choices.size(); ++i) {
        auto* button = new QToolButton;
        button->setText(choices[i].text);
        button->setToolTip(choices[i].tip);
        button->setAccessibleName(name + QStringLiteral(": ") + choices[i].text);
        button->setCheckable(true);
        button->setChecked(i == 0);
        button->setFocusPolicy(Qt::StrongFocus);
        if (i == 0)
            button->setProperty("place", QStringLiteral("first"));
        else if (i == choices.size() - 1)
            button->setProperty("place", QStringLiteral("last"));
        else
            button->setProperty("place", QStringLiteral("middle"));
        m_buttons->addButton(button, i);
        layout->addWidget(button);
    }
    connect(m_buttons, &QButtonGroup::idClicked, this, &Segmented::changed);
}

int Segmented::chosen() const
{
    return m_buttons->checkedId();
}

void Segmented::choose(int index)
{
    if (QAbstractButton* button = m_buttons->button(index))
        button->setChecked(true);
}

void Segmented::setChoiceEnabled(int index, bool enabled)
{
    if (QAbstractButton* button = m_buttons->button(index))
        button->setEnabled(enabled);
}

void Segmented::setChoiceEnabled(int index, bool enabled, const QString& why)
{
    setChoiceEnabled(index, enabled);
    if (QAbstractButton* button = m_buttons->button(index))
        button->setToolTip(enabled ? m_choices[index].tip : why);
}

} // namespace strata::views
