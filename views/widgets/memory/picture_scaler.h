// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/memory/x_mapping.h"

#include <QImage>
#include <QRect>

namespace strata::views {

/// An image of a part of the axis and of the height.
struct Picture {
    QImage image;
    XMapping x;
    YMapping y;
    [[nodiscard]] bool isNull() const { return image.isNull(); }
};

/// Paints `source` into `place` of `target`, stretched so that it shows the ranges of `x` and `y`; what
/// `source` does not cover stays as it is. Nearest pixels, both images of Format_RGB32. When `source` is on
/// the other axis, the clock says which of its columns shows the same event. Cost: the pixels of `place`,
/// about 1 ns each.
void paintScaled(const Picture& source, QImage& target, QRect place, const XMapping& x, const YMapping& y,
    const model::Clock& clock);

} // namespace strata::views
