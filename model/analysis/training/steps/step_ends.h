// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/training/steps/updates.h"
#include "model/analysis/training/steps/work_runs.h"

#include <vector>

namespace strata::model {

/// The last events of steps of training, in order.
using StepEnds = std::vector<EventIndex>;

/// By updates: of those before which a forward and a backward lie since the end before, the last one before
/// the next forward. Of optimizers that train in turns (a generator and a critic), the one that has its turn
/// last ends a step. `work` may be empty: then updates with nothing much between them are taken together.
[[nodiscard]] StepEnds endsOfUpdates(
    const DeviceTrace& trace, const WorkHistory& work, const std::vector<Update>& updates);

/// Without updates: behind a backward what runs without gradients, or has stacks of an optimizer, ends a step
/// where some backwards have none of it (accumulation), or else the gradients go.
[[nodiscard]] StepEnds endsOfWork(const DeviceTrace& trace, const WorkHistory& work);

/// By what the program named as a step.
[[nodiscard]] StepEnds endsOfMarks(const DeviceTrace& trace, const Clock& clock);

/// Of the optimizer one of whose steps lasts from `begin` to `end` events: so many events come before the end
/// of each of its steps, as it told. Empty: it is nobody's. O(listings).
[[nodiscard]] std::vector<EventIndex> endsOfOptimizer(
    const DeviceTrace& trace, EventIndex begin, EventIndex end);

/// How many allocs come before an event. O(log blocks).
[[nodiscard]] std::int64_t allocsBefore(const DeviceTrace& trace, EventIndex event);

} // namespace strata::model
