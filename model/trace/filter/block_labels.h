// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/blocks.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace strata::model {

/// A name for every block, which an analysis above this layer found. Immutable once it is shared.
///
/// Of a trace that grew it may be of an earlier generation: numbers of blocks stay what they are, and those
/// that came since have no name yet.
struct BlockLabels {
    static constexpr std::uint32_t kNone = 0xffffffffu;

    std::vector<std::string> names;
    BlockColumn<std::uint32_t> rows; ///< of names

    [[nodiscard]] std::uint32_t rowOf(BlockId block) const
    {
        const Column<std::uint32_t>& part = block.isOlder() ? rows.older : rows.born;
        return block.row() < part.size() ? part[block.row()] : kNone;
    }
};

/// What analyses know of the blocks of a device; nullptr: nothing yet.
struct DeviceLabels {
    std::shared_ptr<const BlockLabels> category, module;

    friend bool operator==(const DeviceLabels&, const DeviceLabels&) = default;
};

/// What blocks are called that an analysis has no name for.
inline constexpr std::string_view kUnknownLabel = "unknown";

} // namespace strata::model
