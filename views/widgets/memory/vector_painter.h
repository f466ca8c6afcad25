// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/memory/hit.h"

namespace strata::views {

/// The stacked picture as one polygon a layer, for SVG. Patterns come as lines, since SVG writers know no
/// textures: level ones for what is older than the trace, upright ones for what has no stack and what is left
/// out.
void paintStackedVectors(QPainter& painter, const CanvasScene& scene, const model::StackedPicture& picture,
    const GroupStyles& styles);

} // namespace strata::views
