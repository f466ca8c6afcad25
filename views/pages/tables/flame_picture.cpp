// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/pages/tables/flame_picture.h"

#include "model/trace/filter/grouping.h"
#include "views/models/document/group_colours.h"
#include "views/style/palette.h"

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

} // namespace

bool FlameQuestion::operator==(const FlameQuestion& other) const
{
    return sameQuery(query, other.query) && roots == other.roots && filter == other.filter
        && trace == other.trace && labels == other.labels;
}

FlamePicture makeFlamePicture(
    std::shared_ptr<const DeviceData> of, const FlameQuestion& shown, const JobContext& context)
{
    const DeviceData& device = *of;
    std::optional<model::BlockMatcher> matcher;
    if (!shown.filter.empty())
        matcher.emplace(*device.trace, shown.filter, device.labels());
    const auto roots = shown.roots ? device.groups(*shown.roots) : nullptr;
    FlamePicture made;
    made.device = std::move(of);
    const model::BlockMatcher* const filter = matcher ? &*matcher : nullptr;
    made.tree = std::make_shared<const FlameTree>(device.session,
        roots ? model::callTree(*device.timeline, shown.query, *roots, filter, context.stop())
              : model::callTree(*device.timeline, shown.query, filter, context.stop()));
    if (roots || shown.query.byLine)
        made.ranks = ranksOf(*made.tree, device, roots ? *roots : *device.byLine);
    return made;
}

} // namespace strata::views
