// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/viewport.h"

#include <algorithm>
#include <utility>

namespace strata::views {

Viewport::Viewport(std::size_t pictures, double lowest, QObject* parent)
    : QObject(parent)
    , m_lowest(lowest)
    , m_yLimits(pictures)
    , m_now{ {}, std::vector<Span>(pictures) }
{
    m_timer.start();
}

void Viewport::setTrace(const model::Clock* clock)
{
    m_clock = clock;
    m_xLimits = clock != nullptr ? XMapping::wholeSpan(m_axis, *clock) : Span{};
    m_now.x = m_xLimits;
    m_now.y = m_yLimits;
    m_history.clear();
    Q_EMIT changed();
    Q_EMIT historyChanged();
}

template <class Change> void Viewport::changeAll(const Change& change)
{
    change(m_now);
    m_history.changeAll(change);
    Q_EMIT changed();
}

void Viewport::growTrace(const model::Clock* clock)
{
    m_clock = clock;
    const Span before = std::exchange(m_xLimits, XMapping::wholeSpan(m_axis, *clock));
    changeAll([&](ViewWindow& window) {
        if (window.x == before)
            window.x = m_xLimits;
        else if (window.x.end == before.end) // its end was looked at: that is elsewhere now
            window.x = { m_xLimits.end - window.x.width(), m_xLimits.end };
        window.x = clampSpan(window.x, m_xLimits, XMapping::narrowest(m_axis));
    });
}

void Viewport::growHeight(std::size_t picture, double height, const std::function<double(double)>& moved)
{
    const Span before = std::exchange(m_yLimits[picture], { 0, std::max(height, m_lowest) });
    changeAll([&](ViewWindow& window) {
        Span& y = window.y[picture];
        if (y == before) {
            y = m_yLimits[picture];
            return;
        }
        const double middle = (y.begin + y.end) / 2, by = moved ? moved(middle) - middle : 0;
        y = clampSpan({ y.begin + by, y.end + by }, m_yLimits[picture], m_lowest);
    });
}

void Viewport::setHeight(std::size_t picture, double height)
{
    m_yLimits[picture] = { 0, std::max(height, m_lowest) };
    m_now.y[picture] = m_yLimits[picture];
    Q_EMIT changed();
}

void Viewport::setAxis(model::Axis axis)
{
    if (axis == m_axis)
        return;
    const model::Axis old = m_axis;
    m_axis = axis;
    if (m_clock == nullptr)
        return;
    const bool all = m_now.x == m_xLimits;
    m_xLimits = XMapping::wholeSpan(axis, *m_clock);
    if (all) {
        m_now.x = m_xLimits;
    } else {
        const auto first = model::eventAtPosition(old, *m_clock, m_now.x.begin);
        const auto last = model::eventAtPosition(old, *m_clock, m_now.x.end);
        const Span same{ model::axisPosition(axis, *m_clock, first), XMapping::endOf(axis, *m_clock, last) };
        m_now.x = clampSpan(same, m_xLimits, XMapping::narrowest(axis));
    }
    m_history.clear(); // its entries are in the other unit
    Q_EMIT changed();
    Q_EMIT historyChanged();
}

void Viewport::setPicture(std::size_t picture)
{
    if (picture == m_picture)
        return;
    m_picture = picture;
    Q_EMIT changed();
}

void Viewport::move(const ViewWindow& next)
{
    if (next == m_now)
        return;
    m_history.leaving(m_now, m_timer.elapsed());
    restore(next);
}

void Viewport::restore(ViewWindow window)
{
    m_now = std::move(window);
    Q_EMIT changed();
    Q_EMIT historyChanged();
}

void Viewport::zoomX(double anchor, double factor)
{
    ViewWindow next = m_now;
    next.x = zoomSpan(x(), anchor, factor, m_xLimits, XMapping::narrowest(m_axis));
    move(next);
}

void Viewport::zoomY(double anchor, double factor)
{
    ViewWindow next = m_now;
    next.y[m_picture] = zoomSpan(y(), anchor, factor, yLimits(), m_lowest);
    move(next);
}

void Viewport::pan(double byX, double byY)
{
    show({ x().begin + byX, x().end + byX }, { y().begin + byY, y().end + byY });
}

void Viewport::showX(Span span)
{
    ViewWindow next = m_now;
    next.x = clampSpan(span, m_xLimits, XMapping::narrowest(m_axis));
    move(next);
}

void Viewport::show(Span spanX, Span spanY)
{
    ViewWindow next = m_now;
    next.x = clampSpan(spanX, m_xLimits, XMapping::narrowest(m_axis));
    next.y[m_picture] = clampSpan(spanY, yLimits(), m_lowest);
    move(next);
}

void Viewport::showAll()
{
    ViewWindow next = m_now;
    next.x = m_xLimits;
    next.y = m_yLimits;
    move(next);
}

void Viewport::reveal(model::EventIndex e)
{
    if (m_clock == nullptr)
        return;
    const double begin = model::axisPosition(m_axis, *m_clock, e);
    const double end = std::min(XMapping::endOf(m_axis, *m_clock, e), begin + XMapping::narrowest(m_axis));
    const double margin = x().width() / 20;
    const bool left = begin < x().begin + margin && x().begin > m_xLimits.begin;
    const bool right = end > x().end - margin && x().end < m_xLimits.end;
    if (left && right && begin < x().end && end > x().begin)
        return; // the event is wider than the view
    if (left)
        pan(begin - margin - x().begin, 0);
    else if (right)
        pan(end + margin - x().end, 0);
}

void Viewport::goBack()
{
    if (m_history.canGoBack())
        restore(m_history.back(m_now));
}

void Viewport::goForward()
{
    if (m_history.canGoForward())
        restore(m_history.forward(m_now));
}

} // namespace strata::views
