// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/filter/filter.h"
#include "views/models/tables/flame_tree.h"
#include "views/pages/parts/page.h"

#include <map>
#include <memory>
#include <optional>

namespace strata::views {

/// What a flame graph is asked to show of a device.
struct FlameQuestion {
    model::TreeQuery query;
    std::optional<model::Grouping> roots; ///< Category or Module: its groups lie between root and stacks
    model::BlockFilter filter;
    const model::DeviceTrace* trace = nullptr; ///< of the device that is asked for; not read
    model::DeviceLabels labels; ///< where roots or filter are about them
    [[nodiscard]] bool operator==(const FlameQuestion& other) const;
};

struct FlamePicture {
    std::shared_ptr<const DeviceData> device;
    std::shared_ptr<const FlameTree> tree;
    std::map<FlameTree::Node, int> ranks; ///< of lines or categories, where the picture is by those
};

/// Adds up the stacks; an empty tree, its root alone, once it is cancelled. Any thread.
[[nodiscard]] FlamePicture makeFlamePicture(
    std::shared_ptr<const DeviceData> of, const FlameQuestion& asked, const JobContext& context);

/// The line of code that a frame of `tree` is, where blocks of `device` are of it.
[[nodiscard]] std::optional<model::GroupKey> lineGroupOf(
    const FlameTree& tree, const DeviceData& device, FlameTree::Node node);
/// What a click on a frame tells the details: of a category, a line, else of the frame. `query` is what the
/// tree was made by.
[[nodiscard]] Focus focusOf(
    const FlameTree& tree, const DeviceData& device, const model::TreeQuery& query, FlameTree::Node node);

} // namespace strata::views
