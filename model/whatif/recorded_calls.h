// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/trace/call_list.h"
#include "model/trace/device_trace.h"
#include "model/whatif/change.h"

#include <span>
#include <string>

namespace strata::model {

/// The call list of a device, never nullptr. Kind::Refused: it has none that can be called again, and why.
[[nodiscard]] Result<const CallList*> callListOf(const DeviceTrace& trace);

/// What a child needs to make the calls of a recorded step again, over and over, with changes (autocast,
/// types): a JSON document that capture/dryrun/replay_calls.py reads. It names operators on the list of
/// call_operators.h and values, nothing else; every argument was read and written anew. With the calls go the
/// blocks that lived as the step began, by age, and what the program allocated and freed before its first
/// training step, which begins at `firstStep`: segments lie as that left them. O(rows + blocks + events).
/// Kind::Refused: what cannot be called again, or which change the calls do not tell.
[[nodiscard]] Result<std::string> callsToRun(
    const DeviceTrace& trace, const CallList& list, std::span<const Change> changes, EventIndex firstStep);

} // namespace strata::model
