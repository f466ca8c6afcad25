// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/group_colours.h"

#include "views/style/texts.h"

namespace strata::views {

std::vector<std::uint32_t> largestFirst(
    const model::LiveGroups& peak, const model::GroupTable& groups, const std::vector<std::uint32_t>& order)
{
    std::vector<bool> seen(groups.count());
    std::vector<std::uint32_t> all;
    const auto add = [&](std::uint32_t group) {
        if (!seen[group] && !namesNothing(groups, group))
            all.push_back(group);
        seen[group] = true;
    };
    for (const model::GroupSum& sum : peak.groups)
        if (sum.bytes > 0)
            add(sum.group);
    for (const std::uint32_t group : order)
        add(group);
    return all;
}

bool namesNothing(const model::GroupTable& groups, std::uint32_t group)
{
    if (model::infoOf(groups.grouping()).ofStacks)
        return !groups.stackOf(group).valid();
    return groups.grouping() == model::Grouping::Module
        && (groups.label(group) == model::kNoModuleLabel || groups.label(group) == model::kUnknownLabel);
}

QString groupName(model::Grouping grouping, const std::string& label)
{
    if (grouping == model::Grouping::Category)
        if (const auto category = model::categoryFromWord(label))
            return text::said(model::categoryTitle(*category));
    return text::utf8(label);
}

QString groupName(const model::GroupTable& groups, std::uint32_t group)
{
    return groupName(groups.grouping(), groups.label(group));
}

} // namespace strata::views
