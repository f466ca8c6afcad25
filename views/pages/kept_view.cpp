// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/kept_view.h"

#include <QAbstractButton>
#include <QScrollArea>
#include <QScrollBar>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace strata::views {

namespace {

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

KeptView::KeptView(const QScrollArea* area)
{
    if (!area)
        return;
    m_scrolled = area->verticalScrollBar()->value();
    const QList<QWidget*> parts = focusable(*area);
    for (qsizetype i = 0; i < parts.size(); ++i)
        if (parts[i]->hasFocus()) {
            m_focused = i;
            m_focusedText = textOf(*parts[i]);
        }
}

void KeptView::restore(QScrollArea& area) const
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
        if (!nearest && !parts.isEmpty())
            nearest = parts[std::min(m_focused, parts.size() - 1)];
        if (nearest)
            nearest->setFocus(Qt::OtherFocusReason);
    }
    QScrollBar* const bar = area.verticalScrollBar();
    bar->setValue(m_scrolled);
    if (bar->value() == m_scrolled)
        return;
    // It knows how long it is when it is laid out.
    auto waiting = std::make_shared<QMetaObject::Connection>();
    *waiting = QObject::connect(
        bar, &QScrollBar::rangeChanged, bar, [bar, waiting, value = m_scrolled](int, int most) {
            if (most < value)
                return;
            QObject::disconnect(*waiting);
            bar->setValue(value);
        });
}

} // namespace strata::views
