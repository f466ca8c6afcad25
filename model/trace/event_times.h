// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/device_trace.h"

#include <cstdint>
#include <optional>

namespace strata::model {

/// When `event` happened, since the epoch; none before the first event and in a recording without times.
[[nodiscard]] std::optional<std::int64_t> timeOf(const DeviceTrace& trace, EventIndex event);
/// The highest time of any event; none without events and in a recording without times. O(events).
[[nodiscard]] std::optional<std::int64_t> latestTimeOf(const DeviceTrace& trace);

} // namespace strata::model
