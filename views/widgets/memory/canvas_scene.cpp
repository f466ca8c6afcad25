// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/canvas_scene.h"

namespace strata::views {

QFont CanvasScene::axisFont() const
{
    // Body to axis is 13 to 11, in whatever unit the desktop has set the body.
    QFont small = font;
    if (font.pixelSize() > 0)
        small.setPixelSize(std::max(9, font.pixelSize() * 11 / 13));
    else
        small.setPointSizeF(font.pointSizeF() * 11 / 13);
    return small;
}

} // namespace strata::views
