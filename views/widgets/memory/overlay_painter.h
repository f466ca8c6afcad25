// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/view_state.h"
#include "views/widgets/memory/hit.h"

namespace strata::views {

/// What lies over the frame and changes with every move of the mouse: painted each time, never kept.
struct CanvasOverlay {
    std::optional<EventRange> selection;
    std::optional<std::pair<double, double>> drag; ///< points: the range under way
    std::optional<Hit> pinned; ///< outlined if it is a block
    std::optional<QPointF> mouse;
    Hit hover;
    HoverCard card;
    std::optional<FillStyle> swatch;
    HoverCard pinnedCard; ///< of a note that the keyboard chose: shown while the mouse is elsewhere
    bool focused = false;
};

void paintOverlay(QPainter& painter, const CanvasScene& scene, const CanvasOverlay& overlay, QSize canvas);

/// Where the hover label stands: beside the mouse, never under it and never off the canvas.
[[nodiscard]] QRectF hoverPlace(QPointF mouse, QSizeF label, QSizeF canvas);

} // namespace strata::views
