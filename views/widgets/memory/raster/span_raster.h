// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/memory/raster/curve_spans.h"
#include "views/widgets/memory/raster/fill_style.h"

#include <QColor>
#include <QImage>

namespace strata::views {

/// What spans are filled with: a colour that may be translucent, with opaque marks on it where it has a
/// pattern.
struct SpanFill {
    QColor colour;
    Pattern pattern = Pattern::Plain;
    QColor mark;
};

/// Fills spans (device pixels from `origin`) of an image of Format_RGB32, as QPainter would, at a nanosecond
/// or so a pixel: thousands of spans one column wide are what a curve is made of, and each costs QPainter a
/// third of a microsecond. `scale` is pixels per point, for the pattern.
void fillSpans(
    QImage& target, QPoint origin, const std::vector<PixelSpan>& spans, const SpanFill& fill, int scale = 1);

} // namespace strata::views
