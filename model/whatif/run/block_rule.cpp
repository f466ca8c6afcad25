// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/block_rule.h"

namespace strata::model {

std::string_view ruleWord(BlockRule rule)
{
    switch (rule) {
    case BlockRule::Scaled:
        return "scaled";
    case BlockRule::OfTheModel:
        return "of_the_model";
    case BlockRule::Workspace:
        return "workspace";
    case BlockRule::Scratch:
        return "scratch";
    case BlockRule::OfTheUpdate:
        return "of_the_update";
    case BlockRule::SizeOfParameter:
        return "size_of_parameter";
    case BlockRule::NotWhole:
        return "not_whole";
    case BlockRule::Undecided:
        return "undecided";
    case BlockRule::Linear:
        return "linear";
    case BlockRule::Squared:
        return "squared";
    case BlockRule::Interpolated:
        return "interpolated";
    case BlockRule::LetGo:
        return "let_go";
    case BlockRule::Held:
        return "held";
    case BlockRule::Recomputed:
        return "recomputed";
    case BlockRule::Kept:
        return "kept";
    case BlockRule::NotAgain:
        return "not_again";
    case BlockRule::OldOptimizer:
        return "old_optimizer";
    case BlockRule::NewOptimizer:
        return "new_optimizer";
    case BlockRule::Communicated:
        return "communicated";
    case BlockRule::Sharded:
        return "sharded";
    case BlockRule::Offloaded:
        return "offloaded";
    case BlockRule::BroughtBack:
        return "brought_back";
    case BlockRule::Gathered:
        return "gathered";
    case BlockRule::Removed:
        return "removed";
    case BlockRule::Freed:
        return "freed";
    case BlockRule::Zeroed:
        return "zeroed";
    case BlockRule::NotAligned:
        break;
    }
    return "not_aligned";
}

std::vector<RuleUse> RuleSums::used() const
{
    std::vector<RuleUse> used;
    for (std::size_t rule = 0; rule < m_uses.size(); ++rule)
        if (m_uses[rule].blocks > 0) {
            used.push_back(m_uses[rule]);
            used.back().rule = static_cast<BlockRule>(rule);
        }
    return used;
}

} // namespace strata::model
