// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/style/palette.h"
#include "views/widgets/allocator/map_lines.h"
#include "views/widgets/memory/raster/fill_style.h"
#include "views/widgets/quick_text.h"

class QPainter;

namespace strata::views {

/// All that is painted of an address map. It points to what its maker holds, and serves for one frame. GUI
/// thread.
struct MapScene {
    const MapPicture* picture; ///< nullptr: none
    const MapLines& lines; ///< of the picture
    const GroupStyles& styles;
    const Palette& palette;
    QuickText& text;
    QFont font; ///< of the body
    int width; ///< pixels
    qreal ratio; ///< device pixels per pixel
    std::optional<MapHit> chosen, hovered;
    bool hasFocus;
};

/// What of the content falls into `area`, `scrolled` pixels up; `isVector`: text stays text. Costs what is in
/// the area, and per pixel where blocks are narrower. GUI thread.
void paintMap(QPainter& painter, const MapScene& scene, const QRect& area, int scrolled, bool isVector);
/// The heading of a section: its title, what is in it, and its scale. GUI thread.
void paintMapHeading(QPainter& painter, const MapScene& scene, std::uint32_t section, int top);

} // namespace strata::views
