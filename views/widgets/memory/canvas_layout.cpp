// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_layout.h"

#include <algorithm>

namespace strata::views {

int CanvasLayout::annotationRoom(QSize size)
{
    constexpr int kFew = 4;
    return std::clamp(size.height() / 4 / kAnnotationRow, kFew, kMostAnnotationRows);
}

CanvasLayout CanvasLayout::make(QSize size, PictureMode mode, int annotationRows)
{
    CanvasLayout layout;
    const int width = std::max(size.width() - kLeft - kRight, 1);
    const int rows = std::min(annotationRows, annotationRoom(size));
    const int below = kAxis + (rows > 0 ? rows * kAnnotationRow + kGap : 0);
    const int height = std::max(size.height() - kTop - below, 1);
    const int panel = mode == PictureMode::Blocks ? std::min(kCurvePanel, height / 3) : 0;
    const int gap = panel > 0 ? kGap : 0;
    layout.picture = { kLeft, kTop + panel + gap, width, std::max(height - panel - gap, 1) };
    layout.curves = panel > 0 ? QRect(kLeft, kTop, width, panel) : layout.picture;
    int y = layout.picture.top() + layout.picture.height();
    if (rows > 0) {
        layout.annotations = { kLeft, y + kGap, width, rows * kAnnotationRow };
        y += kGap + layout.annotations.height();
    }
    layout.axis = { kLeft, y, width, kAxis };
    layout.labels = { kLeft + width, layout.curves.top(), kRight, layout.curves.height() };
    return layout;
}

} // namespace strata::views
