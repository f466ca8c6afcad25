// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/columns.h"

namespace strata::views {

/// A stretch of an axis, [begin, end): events or nanoseconds on x, bytes on y.
struct Span {
    double begin = 0;
    double end = 0;

    [[nodiscard]] double width() const { return end - begin; }
    [[nodiscard]] bool contains(double value) const { return begin <= value && value < end; }
    friend bool operator==(const Span&, const Span&) = default;
};

/// `wanted` moved and, where it must be, shrunk so that it lies within `limits`; never narrower than
/// `minWidth`, unless the limits are.
[[nodiscard]] Span clampSpan(Span wanted, Span limits, double minWidth);

/// `view` narrowed (factor < 1) or widened around `anchor`, which keeps its place on the screen as long as
/// the limits allow.
[[nodiscard]] Span zoomSpan(Span view, double anchor, double factor, Span limits, double minWidth);

/// Where the events or nanoseconds in view fall on the pixel columns of a picture. A value: zooming and
/// panning make a new one. Pixel columns are device pixels, counted from the picture's left edge.
class XMapping {
public:
    XMapping() = default;
    XMapping(model::Axis axis, Span view, int columns)
        : m_axis(axis)
        , m_view(view)
        , m_columns(columns)
    {
    }

    [[nodiscard]] model::Axis axis() const { return m_axis; }
    [[nodiscard]] Span view() const { return m_view; }
    [[nodiscard]] int columns() const { return m_columns; }
    [[nodiscard]] model::ColumnWindow window() const
    {
        return { m_axis, m_view.begin, m_view.end, m_columns };
    }

    [[nodiscard]] double columnOf(double value) const;
    [[nodiscard]] double valueAt(double column) const;

    /// Where the state after event `e` ends: the next event begins, or the axis ends.
    [[nodiscard]] static double endOf(model::Axis axis, const model::Clock& clock, model::EventIndex e);
    /// All there is to see; never empty.
    [[nodiscard]] static Span wholeSpan(model::Axis axis, const model::Clock& clock);
    /// The narrowest view: one event, or one microsecond, the unit of recorded times.
    [[nodiscard]] static double narrowest(model::Axis axis);

    friend bool operator==(const XMapping&, const XMapping&) = default;

private:
    model::Axis m_axis = model::Axis::Events;
    Span m_view;
    int m_columns = 0;
};

/// Where bytes fall on pixel rows: row 0 is the top, `view.begin` lies at the bottom edge.
class YMapping {
public:
    YMapping() = default;
    YMapping(Span view, int rows)
        : m_view(view)
        , m_rows(rows)
    {
    }

    [[nodiscard]] Span view() const { return m_view; }
    [[nodiscard]] int rows() const { return m_rows; }
    [[nodiscard]] double rowOf(double bytes) const;
    [[nodiscard]] double bytesAt(double row) const;

    friend bool operator==(const YMapping&, const YMapping&) = default;

private:
    Span m_view;
    int m_rows = 0;
};

} // namespace strata::views
