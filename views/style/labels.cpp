// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/style/labels.h"

#include <QLabel>
#include <QPushButton>

namespace strata::views {

QLabel* textLabel(const QString& text, bool muted)
{
    auto* label = new QLabel(text);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setProperty("muted", muted);
    return label;
}

QLabel* headingLabel(const QString& text, int px)
{
    QLabel* label = textLabel(text);
    label->setFont(bold(sized(label->font(), px)));
    return label;
}

QLabel* captionLabel(const QString& text)
{
    QLabel* label = textLabel(text, true);
    label->setFont(sized(label->font(), kAxisPx));
    return label;
}

QPushButton* linkButton(const QString& text)
{
    auto* button = new QPushButton(text);
    button->setProperty("link", true);
    button->setCursor(Qt::PointingHandCursor);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    return button;
}

} // namespace strata::views
