// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/roles/categories.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace strata::model {

/// Requested bytes of one set of blocks by what they are for.
struct CategorySums {
    std::array<std::int64_t, kCategories> byCategory{};
    std::int64_t bytes = 0, blocks = 0;
    CertaintyBytes certain; ///< how sure their categories are

    [[nodiscard]] std::int64_t of(Category category) const
    {
        return byCategory[static_cast<std::size_t>(category)];
    }
    void add(BlockCategory category, std::int64_t requested);
    void add(const CategorySums& other);
};

/// A module, with what belongs to it at one instant.
struct ModuleRow {
    std::string path; ///< "h.3.attn"; empty: blocks that belong to no module
    int depth = 0; ///< of the tree: 0 for "h"
    CategorySums own; ///< the rows' add up to all that is requested
    CategorySums total; ///< with the modules within it
};

/// The tree of modules with their memory: each module before those within it, numbers in the order that
/// people count in ("h.2" before "h.10"), what belongs to no module last. Modules that only hold others are
/// rows too. O(active log tensors + modules log modules).
[[nodiscard]] std::vector<ModuleRow> moduleLedger(
    const DeviceTrace& trace, const Categories& categories, std::span<const BlockId> active);

} // namespace strata::model
