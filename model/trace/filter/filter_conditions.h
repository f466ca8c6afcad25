// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/filter/filter.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// The conditions of a filter by names instead of rows of a recording: what a filter is when it is typed,
/// printed or saved, so that it means the same after its recording was read again, converted or cut. Joined
/// by "and". A value.
struct FilterConditions {
    static constexpr std::int64_t kAnySize = std::numeric_limits<std::int64_t>::max();

    using Stack = std::vector<std::string>; ///< frameLabel of each frame, innermost first; empty: no stack

    std::string text; ///< as BlockFilter::text
    std::optional<std::string> line; ///< as BlockFilter::line
    std::optional<std::string> category, module; ///< as in BlockFilter
    std::vector<Stack> stacks; ///< one of these; none: any
    std::optional<std::optional<std::int64_t>> stream; ///< its handle; inner none: blocks without a stream
    std::optional<std::optional<Pool>> pool; ///< inner none: blocks of no known pool
    std::int64_t minBytes = 0; ///< requested; never negative
    std::int64_t maxBytes = kAnySize; ///< -1 at least, which is of no block

    friend bool operator==(const FilterConditions&, const FilterConditions&) = default;
    [[nodiscard]] bool empty() const { return *this == FilterConditions{}; }
};

/// The names of what a filter of this recording asks for. O(frames of its stacks).
[[nodiscard]] FilterConditions conditionsOf(const Recording& recording, const BlockFilter& filter);

/// Back again. Stacks, streams and pools that the recording does not have match nothing. A pass over all
/// stacks where there are conditions on them.
[[nodiscard]] BlockFilter filterOf(const Recording& recording, const FilterConditions& conditions);

/// `base` and `extra`; where both name one thing, `extra` counts.
[[nodiscard]] BlockFilter narrowed(BlockFilter base, const BlockFilter& extra);

} // namespace strata::model
