// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/device_data.h"

#include <vector>

namespace strata::views {

/// In which order the groups of a device take colours: the largest at the peak first, whether their blocks
/// are of the trace or older, so that no large one is grey while a small one is coloured; then in `order`.
/// Groups without a stack, where stacks make the groups, are none of them: they are hatched, always. O(groups
/// + live blocks at the peak).
[[nodiscard]] std::vector<std::uint32_t> largestFirst(
    const model::LiveGroups& peak, const model::GroupTable& groups, const std::vector<std::uint32_t>& order);

} // namespace strata::views
