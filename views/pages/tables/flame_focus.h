// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/tables/flame_tree.h"
#include "views/pages/parts/page.h"

#include <optional>

namespace strata::views {

/// The line of code that a frame of `tree` is, where blocks of `device` are of it.
[[nodiscard]] std::optional<model::GroupKey> lineGroupOf(
    const FlameTree& tree, const DeviceData& device, FlameTree::Node node);
/// What a click on a frame tells the details: of a category, a line, else of the frame. `query` is what the
/// tree was made by.
[[nodiscard]] Focus focusOf(
    const FlameTree& tree, const DeviceData& device, const model::TreeQuery& query, FlameTree::Node node);

} // namespace strata::views
