// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/fold_section.h"

#include "views/style/icons.h"
#include "views/style/labels.h"

#include <QLabel>
#include <QMouseEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace strata::views {

namespace {

constexpr int kHeadingHeight = 20; // as the style sheet makes such buttons

} // namespace

FoldSection::FoldSection(
    const QString& title, const QString& essence, const Palette& palette, QWidget* parent)
    : QWidget(parent)
    , m_heading(new QPushButton(title))
    , m_essence(textLabel(essence, true))
    , m_content(new QWidget)
    , m_inside(new QVBoxLayout(m_content))
    , m_ink(palette[Palette::Role::Text])
{
    m_heading->setProperty("fold", true); // as the style sheet knows it
    m_heading->setCheckable(true);
    m_heading->setFont(bold(m_heading->font()));
    m_heading->setCursor(Qt::PointingHandCursor);
    m_heading->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    m_heading->setAccessibleDescription(essence);
    m_essence->setTextInteractionFlags(Qt::NoTextInteraction); // a click on it folds
    const int beside = (scaled(kHeadingHeight, font()) - m_essence->fontMetrics().height()) / 2;
    m_essence->setContentsMargins(0, std::max(beside, 0), 0, 0); // on one line with the heading
    m_essence->setCursor(Qt::PointingHandCursor);
    auto* top = new QHBoxLayout;
    top->setContentsMargins(0, 0, 0, 0);
    top->setSpacing(kGrid);
    top->addWidget(m_heading, 0, Qt::AlignTop);
    top->addWidget(m_essence, 1, Qt::AlignTop);
    m_inside->setContentsMargins(0, kGrid, 0, 0);
    m_inside->setSpacing(kGrid);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addLayout(top);
    layout->addWidget(m_content);
    connect(m_heading, &QPushButton::clicked, this, [this](bool open) {
        setOpen(open);
        Q_EMIT foldedByUser(open);
    });
    setOpen(true);
}

bool FoldSection::isOpen() const
{
    return m_heading->isChecked();
}

void FoldSection::setOpen(bool open)
{
    m_heading->setChecked(open);
    m_heading->setIcon(icon(open ? QStringLiteral("down") : QStringLiteral("forward"), m_ink));
    m_content->setVisible(open);
}

void FoldSection::mouseReleaseEvent(QMouseEvent* event)
{
    const bool onHeading = event->position().y() < m_content->y() || !isOpen();
    if (event->button() == Qt::LeftButton && onHeading && rect().contains(event->pos()))
        m_heading->click();
    else
        QWidget::mouseReleaseEvent(event);
}

} // namespace strata::views
