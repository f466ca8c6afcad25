// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/axis/x_mapping.h"

#include <algorithm>
#include <cmath>

namespace strata::views {

namespace {
constexpr double kMicrosecond = 1000;
}

Span clampSpan(Span wanted, Span limits, double minWidth)
{
    const double width = std::clamp(wanted.width(), std::min(minWidth, limits.width()), limits.width());
    if (width >= limits.width())
        return limits;
    // What is too narrow grows around its middle; what sticks out is pushed back in.
    double begin = wanted.begin + (wanted.width() - width) / 2;
    begin = std::clamp(begin, limits.begin, limits.end - width);
    return { begin, begin + width };
}

Span zoomSpan(Span view, double anchor, double factor, Span limits, double minWidth)
{
    const double width
        = std::clamp(view.width() * factor, std::min(minWidth, limits.width()), limits.width());
    if (width >= limits.width())
        return limits;
    const double share = view.width() > 0 ? (anchor - view.begin) / view.width() : 0.5;
    const double begin = std::clamp(anchor - share * width, limits.begin, limits.end - width);
    return { begin, begin + width };
}

double XMapping::columnOf(double value) const
{
    return m_view.width() > 0 ? (value - m_view.begin) / m_view.width() * m_columns : 0;
}

double XMapping::valueAt(double column) const
{
    return m_columns > 0 ? m_view.begin + column / m_columns * m_view.width() : m_view.begin;
}

double XMapping::endOf(model::Axis axis, const model::Clock& clock, model::EventIndex e)
{
    const double end = wholeSpan(axis, clock).end;
    return e + 1 >= clock.eventCount() ? end : std::min(end, model::axisPosition(axis, clock, e + 1));
}

Span XMapping::wholeSpan(model::Axis axis, const model::Clock& clock)
{
    const model::ColumnWindow whole = model::wholeTrace(axis, clock, 1);
    return { whole.begin, std::max(whole.end, whole.begin + narrowest(axis)) };
}

double XMapping::narrowest(model::Axis axis)
{
    return axis == model::Axis::Events ? 1 : kMicrosecond;
}

double YMapping::rowOf(double bytes) const
{
    return m_view.width() > 0 ? m_rows - (bytes - m_view.begin) / m_view.width() * m_rows : m_rows;
}

double YMapping::bytesAt(double row) const
{
    return m_rows > 0 ? m_view.begin + (m_rows - row) / m_rows * m_view.width() : m_view.begin;
}

} // namespace strata::views
