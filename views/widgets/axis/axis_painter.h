// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/x_mapping.h"

#include <QColor>
#include <QFont>
#include <QRect>

#include <limits>

class QPainter;

namespace strata::views {

/// How scales are drawn. Rectangles are in points, mappings in device pixels.
struct AxisLook {
    QFont font;
    QColor text, line;
    double ratio = 1; ///< device pixels per point
};

/// A scale of bytes at the left of an area, with gridlines through it.
void paintByteAxis(QPainter& painter, const AxisLook& look, const QRect& area, const YMapping& y);
/// A scale of events or time along the top of a strip, and its name at the right of that. Its columns are
/// those of the picture above it. A label that would pass `end`, in points, is moved to end there.
void paintEventAxis(QPainter& painter, const AxisLook& look, const QRect& strip, const XMapping& x,
    int end = std::numeric_limits<int>::max());
/// The lines at the left of an area and below it.
void paintAxisFrame(QPainter& painter, const AxisLook& look, const QRect& area);

} // namespace strata::views
