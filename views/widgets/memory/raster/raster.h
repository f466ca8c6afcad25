// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/widgets/axis/x_mapping.h"
#include "views/widgets/memory/raster/fill_style.h"

#include <QImage>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::views {

/// An opaque image of device pixels, filled with `colour`. Its lines are spaced so that walking down a column
/// does not hit the same cache set again and again, which a width of a power of two would.
[[nodiscard]] QImage makeRaster(int columns, int rows, QRgb colour);

/// What is to stand out; everything else fades.
struct Highlight {
    std::optional<std::uint32_t> group;
    bool beforeTrace = false;
    bool other = false;

    [[nodiscard]] bool any() const { return group || beforeTrace || other; }
    [[nodiscard]] bool has(const model::StackedPicture::Layer& layer) const;
    friend bool operator==(const Highlight&, const Highlight&) = default;
};

/// How a picture is to be drawn. A value that a worker thread gets a copy of.
struct RasterLook {
    GroupStyles styles;
    Highlight highlight;
    int scale = 1; ///< device pixels per point, for patterns
};

/// The stacked picture as pixels: one image column per picture column, layers from the ground up, a hairline
/// of the surface's colour between layers that are high enough. Cost: the pixels.
[[nodiscard]] QImage rasterizeStacked(
    const model::StackedPicture& picture, const YMapping& y, const RasterLook& look);

/// The row where each layer of column `column` ends at its top, from the ground up, clamped to the image;
/// item 0 is the ground.
[[nodiscard]] std::vector<int> layerRows(const model::StackedPicture& picture, int column, const YMapping& y);

} // namespace strata::views
