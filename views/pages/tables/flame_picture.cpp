// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_picture.h"

#include "model/trace/filter/grouping.h"
#include "views/models/document/group_colours.h"
#include "views/style/palette.h"

#include <QCoreApplication>

#include <algorithm>
#include <utility>

namespace strata::views {

namespace {

bool sameQuery(const model::TreeQuery& a, const model::TreeQuery& b)
{
    return a.from == b.from && a.to == b.to && a.cost == b.cost && a.order == b.order
        && a.userFramesOnly == b.userFramesOnly && a.byLine == b.byLine;
}

/// The colours of the groups that lie upon the root, as everywhere; those of modules follow their names.
std::map<FlameTree::Node, int> ranksOf(
    const FlameTree& tree, const DeviceData& device, const model::GroupTable& groups)
{
    const std::vector<int> ranks
        = groups.grouping() == model::Grouping::Line ? device.lineRank : fixedColoursOf(groups);
    std::map<std::string_view, int> rankOfLabel;
    for (std::uint32_t group = 0; group < ranks.size(); ++group)
        if (groups.grouping() != model::Grouping::Module || ranks[group] == Palette::kHatched)
            rankOfLabel.emplace(groups.label(group), ranks[group]);
    std::map<FlameTree::Node, int> found;
    for (const FlameTree::Node node : tree.children(0)) {
        const std::string label = tree.isGroup(node) ? *tree.group(node)
            : tree.frame(node).valid() ? model::frameLabel(device.trace->recording(), tree.frame(node))
                                       : std::string();
        if (const auto rank = rankOfLabel.find(label); rank != rankOfLabel.end())
            found.emplace(node, rank->second);
    }
    return found;
}

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

bool FlameQuestion::operator==(const FlameQuestion& other) const
{
    return sameQuery(query, other.query) && roots == other.roots && filter == other.filter
        && trace == other.trace && labels == other.labels;
}

FlamePicture makeFlamePicture(
    std::shared_ptr<const DeviceData> of, const FlameQuestion& asked, const JobContext& context)
{
    const DeviceData& device = *of;
    std::optional<model::BlockMatcher> matcher;
    if (!asked.filter.empty())
        matcher.emplace(*device.trace, asked.filter, device.labels());
    const auto roots = asked.roots ? device.groups(*asked.roots) : nullptr;
    FlamePicture made;
    made.device = std::move(of);
    const model::BlockMatcher* const filter = matcher ? &*matcher : nullptr;
    made.tree = std::make_shared<const FlameTree>(device.session,
        roots ? model::callTree(*device.timeline, asked.query, *roots, filter, context.stop())
              : model::callTree(*device.timeline, asked.query, filter, context.stop()));
    if (roots || asked.query.byLine)
        made.ranks = ranksOf(*made.tree, device, roots ? *roots : *device.byLine);
    return made;
}

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
