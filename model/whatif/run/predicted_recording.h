// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/trace/recording.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/run/program_run.h"

#include <memory>

namespace strata::model {

/// The run that a scenario leads to, as a recording that opens as any other: events with the addresses that
/// the replayed allocator gives, its segments, its state at the end, stacks, phases, modules, annotations,
/// calls of the allocator, and what the program told of its tensors. `run` is what the program asks for;
/// none: what was recorded. Where memory runs out, it ends there. Times are the recorded ones. What no replay
/// can tell is left out: kernels, operators, what the driver says, notes.
///
/// Fails as RunReplay does; with Refused where the recording does not begin at the program's start, since
/// nobody knows where older memory would lie. Any thread. O(events log blocks); the memory of a recording.
[[nodiscard]] Result<std::unique_ptr<Recording>> predictedRecording(const RecordedRun& recorded,
    const Scenario& scenario, const ProgramRun* run, const Progress& progress = {});

} // namespace strata::model
