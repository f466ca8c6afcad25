// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/flame_tree.h"

#include <vector>

namespace strata::views {

/// What part of a flame graph is seen: a piece [begin, end) of the axis of cost over `width` pixels, and some
/// levels of it.
struct FlameWindow {
    double begin = 0;
    double end = 0;
    double width = 0;
    int firstDepth = 0;
    int lastDepth = 0; ///< included
    friend bool operator==(const FlameWindow&, const FlameWindow&) = default;

    [[nodiscard]] double pixelsPerCost() const { return end > begin ? width / (end - begin) : 0; }
    [[nodiscard]] double xOf(double cost) const { return (cost - begin) * pixelsPerCost(); }
    [[nodiscard]] double costAt(double x) const { return begin + x * (end - begin) / width; }
};

/// A frame to draw, or the run of its lightest siblings that are too narrow to be drawn one by one.
struct FlameBox {
    FlameTree::Node node = 0; ///< of a run: the first
    std::uint32_t merged = 0; ///< 0: a frame; else how many siblings the run stands for
    int depth = 0;
    double x0 = 0, x1 = 0; ///< pixels, exact; may reach beyond the window
};

/// Frames narrower than this are put together.
inline constexpr double kNarrowestFrame = 1.5;

/// The boxes of a window, level by level. Siblings stand heaviest first, so what is too narrow is always the
/// rest of a row. Costs what is visible: at most width / kNarrowestFrame boxes a level.
[[nodiscard]] std::vector<FlameBox> layOutFlame(const FlameTree& tree, const FlameWindow& window);

/// The box at a pixel, without laying out anything else; none where nothing is.
[[nodiscard]] std::optional<FlameBox> flameBoxAt(
    const FlameTree& tree, const FlameWindow& window, double x, int depth);

} // namespace strata::views
