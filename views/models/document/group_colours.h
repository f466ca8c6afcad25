// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/device_data.h"

#include <vector>

namespace strata::views {

/// In which order the groups of a device take colours: the largest at the peak first, whether their blocks
/// are of the trace or older, so that no large one is grey while a small one is coloured; then in `order`.
/// Groups that namesNothing() are none of them: they are hatched, always. O(groups + live blocks).
[[nodiscard]] std::vector<std::uint32_t> largestFirst(
    const model::LiveGroups& peak, const model::GroupTable& groups, const std::vector<std::uint32_t>& order);

/// Whether a group is of the blocks of which the grouping tells nothing: without a stack, of no module.
[[nodiscard]] bool namesNothing(const model::GroupTable& groups, std::uint32_t group);

/// What people read as the name of a group: "Activations" for the category "activation", else its label.
[[nodiscard]] QString groupName(model::Grouping grouping, const std::string& label);
[[nodiscard]] QString groupName(const model::GroupTable& groups, std::uint32_t group);

} // namespace strata::views
