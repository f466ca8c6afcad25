// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

/// What one rule of the user's decides of a set of blocks.
struct RuleShare {
    std::int64_t blocks = 0;
    std::int64_t bytes = 0; ///< requested
    Category category = Category::Unknown; ///< that it gives them

    friend bool operator==(const RuleShare&, const RuleShare&) = default;
};

/// For each rule the blocks of `active` whose category it decided: those that it holds for, no rule before it
/// does, and whose kind the program did not tell. `categories` were made with `rules`. O(active log active),
/// and what RuleMatcher takes.
[[nodiscard]] std::vector<RuleShare> ruleShares(const DeviceTrace& trace, const Clock& clock,
    const Categories& categories, const CategoryRules& rules, std::span<const BlockId> active);

} // namespace strata::model
