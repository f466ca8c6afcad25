// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/timeline/columns.h"
#include "model/timeline/curve.h"
#include "model/timeline/live_index.h"
#include "model/trace/filter/filter.h"
#include "model/trace/filter/grouping.h"

#include <cstdint>
#include <stop_token>
#include <vector>

namespace strata::model {

/// One span of a curve per pixel column, over the events that eventsOfColumn() names.
[[nodiscard]] std::vector<CurveRange> curveColumns(
    const Curve& curve, const Clock& clock, const ColumnWindow& window);

/// The stacked picture: each pixel column shows the state at the event in it where the total is highest.
/// Layers, from the ground: blocks older than the trace, then the top groups, then "other"; their bytes add
/// up to `total`. Labels tell of older blocks what they are: under such a grouping they lie in their groups.
/// Blocks that the filter leaves out are summed in `filteredOut` and drawn on top as one grey
/// layer.
struct StackedPicture {
    struct Layer {
        std::uint32_t group = 0xffffffffu; ///< of the GroupTable; none for the three special layers
        enum class Kind : std::uint8_t { BeforeTrace, Group, Other, FilteredOut } kind = Kind::Group;
    };
    std::vector<Layer> layers; ///< ground first, only those with bytes in the window
    int columns = 0;
    std::vector<EventIndex> event; ///< by column
    std::vector<std::int64_t> total; ///< by column: requested bytes after that event
    std::vector<std::int64_t> bytes; ///< by layer and column: bytes[layer * columns + column]
};

inline constexpr int kStackedGroups = 30;

/// Cost: one pass over the blocks born in the window, a few nanoseconds each. The groups shown are the first
/// kStackedGroups of `layerOrder` (LayerOrder::groups(), the same for every zoom) that have bytes in the
/// window, in that order. Returns an empty picture once the token is set.
[[nodiscard]] StackedPicture stackedPicture(const DeviceTrace& trace, const Clock& clock,
    const Curve& requested, const LiveIndex& live, const GroupTable& groups,
    const std::vector<std::uint32_t>& layerOrder, const BlockMatcher* filter, const ColumnWindow& window,
    std::stop_token stop);

} // namespace strata::model
