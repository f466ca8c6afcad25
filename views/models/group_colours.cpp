// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/group_colours.h"

namespace strata::views {

std::vector<std::uint32_t> largestFirst(
    const model::LiveGroups& peak, const model::GroupTable& groups, const std::vector<std::uint32_t>& order)
{
    const bool ofStacks = model::infoOf(groups.grouping()).ofStacks;
    std::vector<bool> seen(groups.count());
    std::vector<std::uint32_t> all;
    const auto add = [&](std::uint32_t group) {
        if (!seen[group] && (!ofStacks || groups.stackOf(group).valid()))
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

} // namespace strata::views
