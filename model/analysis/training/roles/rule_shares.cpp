// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/rule_shares.h"

#include "model/base/wrap.h"

#include <algorithm>

namespace strata::model {

std::vector<RuleShare> ruleShares(const DeviceTrace& trace, const Clock& clock, const Categories& categories,
    const CategoryRules& rules, std::span<const BlockId> active)
{
    const BlockColumns& blocks = trace.blocks();
    std::vector<BlockId> decided;
    std::ranges::copy_if(active, std::back_inserter(decided),
        [&](BlockId block) { return categories.of(block).rule == CategoryRule::User; });
    std::ranges::sort(decided, {}, [&](BlockId block) { return blocks.birth(block); });
    std::vector<RuleShare> shares;
    for (const CategoryRules::Rule& rule : rules.rules())
        shares.push_back({ .category = rule.category });
    if (decided.empty())
        return shares;
    RuleMatcher matcher(trace, clock, rules);
    for (const BlockId block : decided)
        if (const auto rule = matcher.ruleOf(block)) {
            RuleShare& share = shares[*rule];
            share.blocks += 1;
            share.bytes = wrapAdd(share.bytes, blocks.requestedBytes[block]);
        }
    return shares;
}

} // namespace strata::model
