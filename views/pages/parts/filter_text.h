// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "views/models/document/document.h"
#include "views/pages/parts/page.h"

#include <optional>
#include <vector>

namespace strata::views {

/// One condition of a filter: what its chip says, how it is typed, and the filter without it.
struct FilterChip {
    QString text;
    QString toolTip;
    model::BlockFilter without;
};

/// The conditions of `filter` in a fixed order. `recording` names streams and pools.
[[nodiscard]] std::vector<FilterChip> filterChips(
    const model::BlockFilter& filter, const model::Recording& recording);

/// " --filter '...'" for a command line; empty for a filter that takes all.
[[nodiscard]] QString filterOption(const model::BlockFilter& filter, const model::Recording& recording);

/// `filter` narrowed to what was clicked: a group, or the group that a block or an event's block belongs to.
/// Nothing where the focus names no blocks.
[[nodiscard]] std::optional<model::BlockFilter> filterBy(
    const model::BlockFilter& filter, const DeviceData& device, const Focus& focus, model::Grouping grouping);

} // namespace strata::views
