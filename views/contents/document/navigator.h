// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"

#include <optional>
#include <vector>

namespace strata::views {

/// Where the keys of the menu "Go" lead from a selection. Pure functions of a device; GUI thread or any
/// other.
namespace navigator {

/// The first event of the highest requested memory.
[[nodiscard]] model::EventIndex peak(const DeviceData& device);
/// `by` events after (or before) the end of the selection that lies in that direction; without a selection
/// the first or the last event. Stays within the trace; nothing for an empty one.
[[nodiscard]] std::optional<model::EventIndex> event(
    const DeviceData& device, const std::optional<EventRange>& selection, model::EventIndex by);

/// The steps of a device, in order: those of its training but the setup. Where none are known, or not yet,
/// the outermost annotations whose names count up ("step 3", "ProfilerStep#3"); without such names all
/// outermost annotations.
[[nodiscard]] std::vector<EventRange> steps(const DeviceData& device);
/// The step that begins after the selection's beginning, or the one before it; nothing beyond the last.
[[nodiscard]] std::optional<EventRange> step(
    const std::vector<EventRange>& steps, const std::optional<EventRange>& selection, bool next);

} // namespace navigator

} // namespace strata::views
