// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/ids.h"
#include "model/base/result.h"
#include "model/trace/blocks.h"
#include "model/whatif/ask/scenario.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace strata::model {

/// The blocks that a place in the program asks for, by its stacks.
struct SiteBlocks {
    enum class Is : std::uint8_t { Elsewhere, There, Unknown }; ///< Unknown: no stack tells
    std::vector<Is> born, older; ///< by row
    std::vector<EventIndex> refused; ///< requests of that place that were, by their stacks

    [[nodiscard]] Is of(BlockId block) const { return (block.isOlder() ? older : born)[block.row()]; }
};

/// What a filter takes, where its text means the narrowest that any stack has of these: the line
/// ("train.py:57" is not line 571), the function, the file, and then what filters mean by it. Refused: the
/// recording has no stacks, or none of its blocks is of that place, saying which are near. Usage: no filter.
/// O(blocks + frames of stacks).
[[nodiscard]] Result<SiteBlocks> blocksOfSite(const RecordedRun& run, std::string_view site);

} // namespace strata::model
