// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_focus.h"

#include "model/trace/filter/grouping.h"
#include "views/models/document/group_colours.h"

#include <QCoreApplication>

#include <algorithm>

namespace strata::views {

namespace {

class FlameFocus {
    Q_DECLARE_TR_FUNCTIONS(strata::views::FlamePage)
};

/// A module that only others are within is no group.
std::optional<Focus> groupFocusOf(const FlameTree& tree, const DeviceData& device, FlameTree::Node node)
{
    const auto name = tree.group(node);
    const auto groups = name ? device.groups(*tree.tree().roots) : std::shared_ptr<const model::GroupTable>();
    const model::GroupKey key{ name.value_or(std::string()) };
    return groups && groups->find(key)
        ? std::optional(Focus::onGroup(*tree.tree().roots, key, tree.tree().at))
        : std::nullopt;
}

} // namespace

std::optional<model::GroupKey> lineGroupOf(
    const FlameTree& tree, const DeviceData& device, FlameTree::Node node)
{
    const model::FrameId frame = tree.frame(node);
    if (node == 0)
        return std::nullopt;
    const model::GroupKey key{ frame.valid() ? model::frameLabel(device.trace->recording(), frame)
                                             : tree.function(node).toStdString() }; // without a stack
    return device.byLine->find(key) ? std::optional(key) : std::nullopt;
}

Focus focusOf(
    const FlameTree& tree, const DeviceData& device, const model::TreeQuery& query, FlameTree::Node node)
{
    if (const auto group = groupFocusOf(tree, device, node);
        group && tree.tree().roots == model::Grouping::Category)
        return *group;
    if (std::optional<model::GroupKey> group = lineGroupOf(tree, device, node))
        return Focus::onGroup(model::Grouping::Line, std::move(*group));
    FrameFocus frame;
    frame.total = tree.total(node);
    frame.self = tree.self(node);
    frame.whole = tree.total(0);
    frame.blocks = tree.blocks(node);
    frame.countsBlocks = tree.countsBlocks();
    const QString place = tree.place(node);
    const auto group = tree.group(node);
    frame.title = group   ? groupName(*tree.tree().roots, *group)
        : place.isEmpty() ? tree.function(node)
                          : FlameFocus::tr("%1 (%2)").arg(tree.function(node), place);
    for (FlameTree::Node at = node; at != 0; at = tree.parent(at))
        if (tree.frame(at).valid())
            frame.frames.push_back(tree.frame(at));
    if (query.order == model::TreeOrder::BottomUp)
        std::ranges::reverse(frame.frames);
    const bool ofInstant = query.cost == model::TreeCost::Bytes;
    return Focus::onFrame(std::move(frame), ofInstant ? tree.tree().at : -1);
}

} // namespace strata::views
