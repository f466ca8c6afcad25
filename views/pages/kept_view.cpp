// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/kept_view.h"

#include <QAbstractButton>
#include <QLayout>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>

#include <algorithm>
#include <cstdlib>

namespace strata::views {

namespace {

constexpr int kLaidOutMs = 200; // until then

QList<QWidget*> focusable(const QScrollArea& area)
{
    QList<QWidget*> found;
    if (area.widget())
        for (QWidget* widget : area.widget()->findChildren<QWidget*>())
            if (widget->focusPolicy() != Qt::NoFocus && !widget->focusProxy())
                found.append(widget);
    return found;
}

QString textOf(const QWidget& widget)
{
    const auto* button = qobject_cast<const QAbstractButton*>(&widget);
    return button ? button->text() : widget.accessibleName();
}

} // namespace

KeptView::KeptView(const QScrollArea* area, bool sameThing)
    : m_sameThing(sameThing)
{
    if (!area)
        return;
    m_scrolled = sameThing ? area->verticalScrollBar()->value() : 0;
    const QList<QWidget*> parts = focusable(*area);
    for (qsizetype i = 0; i < parts.size(); ++i)
        if (parts[i]->hasFocus()) {
            m_focused = i;
            m_focusedText = textOf(*parts[i]);
        }
}

void KeptView::restore(QScrollArea& area) const
{
    restoreFocus(area);
    QScrollBar* const bar = area.verticalScrollBar();
    for (QWidget* widget : { area.parentWidget(), area.widget() })
        if (widget && widget->layout())
            widget->layout()->activate();
    bar->setValue(m_scrolled);
    if (bar->value() == m_scrolled)
        return;
    // It may know only later how long it is.
    auto* waiting = new QObject(bar);
    QObject::connect(
        bar, &QScrollBar::rangeChanged, waiting, [bar, waiting, value = m_scrolled](int, int most) {
            bar->setValue(std::min(value, most));
            if (most >= value)
                waiting->deleteLater();
        });
    QTimer::singleShot(kLaidOutMs, waiting, &QObject::deleteLater);
}

void KeptView::restoreFocus(const QScrollArea& area) const
{
    if (m_focused >= 0) {
        // Parts may have come in between: then the nearest that says the same.
        QWidget* nearest = nullptr;
        qsizetype off = 0;
        const QList<QWidget*> parts = focusable(area);
        for (qsizetype i = 0; i < parts.size(); ++i)
            if (const qsizetype by = std::abs(i - m_focused);
                textOf(*parts[i]) == m_focusedText && (!nearest || by < off)) {
                nearest = parts[i];
                off = by;
            }
        if (!nearest && m_sameThing && !parts.isEmpty())
            nearest = parts[std::min(m_focused, parts.size() - 1)];
        if (nearest)
            nearest->setFocus(Qt::OtherFocusReason);
    }
}

} // namespace strata::views
