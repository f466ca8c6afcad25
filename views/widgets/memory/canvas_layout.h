// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/memory/raster/picture_mode.h"

#include <QRect>
#include <QSize>

namespace strata::views {

/// Where the parts of the canvas stand, in points. In the stacked mode the curves lie over the picture and
/// `curves` is the same rectangle; in the blocks mode they have a panel above it.
///
///     |  y ticks | curves                          | labels of the curves |
///     |  pools   | picture                         |                      |
///     |          | annotations                     |                      |
///     |          | axis                            |                      |
struct CanvasLayout {
    static constexpr int kLeft = 88;
    static constexpr int kRight = 136;
    static constexpr int kTop = 24; ///< the peak's label and out-of-memory marks
    static constexpr int kAxis = 32;
    static constexpr int kCurvePanel = 120;
    static constexpr int kAnnotationRow = 16;
    static constexpr int kMostAnnotationRows = 12;
    static constexpr int kGap = 8;

    QRect curves;
    QRect picture;
    QRect annotations; ///< empty if there are none
    QRect axis;
    QRect labels;

    [[nodiscard]] static CanvasLayout make(QSize size, PictureMode mode, int annotationRows);
    /// How many rows the annotations may have.
    [[nodiscard]] static int annotationRoom(QSize size);

    /// The columns that everything shares.
    [[nodiscard]] int left() const { return picture.left(); }
    [[nodiscard]] int width() const { return picture.width(); }
    [[nodiscard]] QRect plot() const { return curves.united(picture); }
};

} // namespace strata::views
