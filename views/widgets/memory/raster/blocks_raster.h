// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/blocks_picture.h"
#include "views/widgets/memory/raster/raster.h"

#include <QString>

namespace strata::views {

/// The blocks picture as pixels: the ground that segments reserve, the cells of what is smaller than a pixel
/// mixed in by the share of the pixel that they hold, and the blocks on top, each with a fine edge where it
/// is large enough; pending free is dotted, what is older than the trace banded. Cost: the pixels.
[[nodiscard]] QImage rasterizeBlocks(const model::BlocksPicture& picture, const model::BlockColumns& blocks,
    const YMapping& y, const RasterLook& look);

/// Neighbouring strips of one pool and stream, and what to call them.
struct StripGroup {
    std::int64_t y = 0, bytes = 0;
    int strips = 0;
    model::PoolIndex pool = model::kNoIndex;
    model::StreamIndex stream = model::kNoIndex;
    QString poolName; ///< "large"
    QString streamName; ///< "stream 0"
};
[[nodiscard]] std::vector<StripGroup> stripGroups(
    const model::StripLayout& strips, const model::Recording& recording);

} // namespace strata::views
