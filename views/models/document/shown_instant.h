// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/models/document/document.h"

#include <optional>

namespace strata::views {

/// The last request that failed; none if none did.
[[nodiscard]] std::optional<model::EventIndex> lastOutOfMemory(const DeviceData& device);

/// The instant whose state is shown where one is: the selected one, or the peak of the selected range; while
/// nothing is selected the last out-of-memory, which whoever has one comes for, else the peak. O(log n).
[[nodiscard]] model::EventIndex shownInstant(
    const DeviceData& device, const std::optional<EventRange>& selection);
/// Of the chosen device, with what is selected; -1 without one.
[[nodiscard]] model::EventIndex shownInstant(Document& document);
/// The same, with the peak of reserved memory in place of the peak.
[[nodiscard]] model::EventIndex shownReservedInstant(Document& document);

} // namespace strata::views
