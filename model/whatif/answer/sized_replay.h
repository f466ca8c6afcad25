// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/batch.h"
#include "model/whatif/kinds/rewrites.h"
#include "model/whatif/run/prediction.h"
#include "model/whatif/run/program_run.h"
#include "model/whatif/run/run_replay.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// Replays of a recorded run with other sizes of its blocks. Sizes are requested bytes. Any thread.

/// What sizes go with: RecordedRun::batchItems or RecordedRun::sequenceLength.
using Measure = std::optional<std::int64_t> RecordedRun::*;
[[nodiscard]] bool isBatch(Measure measure);

/// The sizes of the first run's blocks at `asked` items or tokens. Of several runs each must have its
/// measure. Fails with Refused: the sizes cannot be known, and what to record; else as batchByRoles() and
/// batchByRecordings().
[[nodiscard]] Result<BatchSizes> sizesOf(
    const std::vector<RecordedRun>& runs, Measure measure, std::int64_t asked);
/// The sizes that were recorded.
[[nodiscard]] BatchSizes recordedSizes(const DeviceTrace& trace);

/// Which of the sizes: likely, least or most.
using SizeBound = std::vector<std::int64_t> SizesBetween::*;
/// A run with these sizes. `start`: of a recording that begins late, which gets those of before, too.
[[nodiscard]] ProgramRun withSizes(
    ProgramRun run, const BatchSizes& sizes, SizeBound bound, const std::optional<StartBefore>& start = {});

/// The peaks of a run with these sizes, rewritten: likely ones, and bounds over sizes and ways of rewriting.
/// Of a first look the likely ones alone. One replay for each. Fails as RunReplay does.
[[nodiscard]] Result<ReplayedRun> replayBetween(const RecordedRun& run, const Scenario& scenario,
    const BatchSizes& sizes, const Rewrites& rewrites, const Progress& progress,
    const std::optional<StartBefore>& start = {});

[[nodiscard]] PeakFigures lowerFigures(const PeakFigures& a, const PeakFigures& b);
[[nodiscard]] PeakFigures higherFigures(const PeakFigures& a, const PeakFigures& b);
/// Widens the bounds of a replay by those of another, which is less likely.
void includeBounds(ReplayedRun& came, const ReplayedRun& other);
void takeReplay(Prediction& prediction, const ReplayedRun& came);

} // namespace strata::model
