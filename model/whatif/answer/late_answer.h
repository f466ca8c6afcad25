// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/answer/late_start.h"
#include "model/whatif/answer/sized_replay.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// Answers of recordings that begin late. What was cached before recording is not known: it is replayed by
/// assumptions, and how far these are off in recorded runs is how far they may be off in the answer. All
/// thresholds are measured in tests/truth/tests/test_whatif_late.py. Any thread. Replays fail as RunReplay
/// does.

/// The starts that come near to the recorded peaks; empty: no recording begins late. `sorted`: recordings by
/// nearness, which get their `order` and `peaks` where they begin late. Fails with Refused: no start comes
/// near, or a part of the recordings begins late.
[[nodiscard]] Result<std::vector<LateStart>> startsOf(
    std::vector<RecordedRun>& sorted, Measure measure, const Progress& progress);

/// replayBetween() with each of those starts, and with what the recorded runs are off; the first start is the
/// likely one. `starts`: empty where recordings do not begin late.
[[nodiscard]] Result<ReplayedRun> replayFrom(const std::vector<LateStart>& starts, const RecordedRun& run,
    const Scenario& scenario, const BatchSizes& sizes, const Rewrites& rewrites, const Progress& progress);

/// The start of the run that stands for the answer; none: recordings do not begin late.
[[nodiscard]] std::optional<StartBefore> startOfProgram(
    const std::vector<LateStart>& starts, const RecordedRun& run);

/// Widens the bounds of the peaks by what a replay from that start may be off, less where they are far
/// apart. Requested bytes get more room below. Bounds of the reserved peak come as they were replayed.
void widenLate(Prediction& prediction, std::int64_t leastReservedBytes, std::int64_t mostReservedBytes,
    const LateStart& start);

/// Fails with Refused where bounds lie so far apart that they help nobody.
[[nodiscard]] Result<void> narrowEnough(const Prediction& prediction);

} // namespace strata::model
