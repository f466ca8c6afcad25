// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/parts/kept_view.h"

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

QList<QWidget*> focusable(const QWidget& content)
{
    QList<QWidget*> found;
    for (QWidget* widget : content.findChildren<QWidget*>())
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

KeptFocus::KeptFocus(const QWidget* content)
{
    const QList<QWidget*> parts = content ? focusable(*content) : QList<QWidget*>();
    for (qsizetype i = 0; i < parts.size(); ++i)
        if (parts[i]->hasFocus()) {
            m_place = i;
            m_text = textOf(*parts[i]);
        }
}

void KeptFocus::restore(const QWidget& content, bool sameThing) const
{
    if (m_place < 0)
        return;
    // Parts may have come in between: then the nearest that says the same.
    QWidget* nearest = nullptr;
    qsizetype off = 0;
    const QList<QWidget*> parts = focusable(content);
    for (qsizetype i = 0; i < parts.size(); ++i)
        if (const qsizetype by = std::abs(i - m_place);
            textOf(*parts[i]) == m_text && (!nearest || by < off)) {
            nearest = parts[i];
            off = by;
        }
    if (!nearest && sameThing && !parts.isEmpty())
        nearest = parts[std::min(m_place, parts.size() - 1)];
    if (nearest)
        nearest->setFocus(Qt::OtherFocusReason);
}

KeptView::KeptView(const QScrollArea* area, bool sameThing)
    : m_sameThing(sameThing)
    , m_scrolled(area && sameThing ? area->verticalScrollBar()->value() : 0)
    , m_focus(area ? area->widget() : nullptr)
{
}

void KeptView::restore(QScrollArea& area) const
{
    if (area.widget())
        m_focus.restore(*area.widget(), m_sameThing);
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

} // namespace strata::views
