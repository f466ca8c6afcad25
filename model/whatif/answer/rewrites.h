// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/whatif/ask/module_choice.h"
#include "model/whatif/ask/scenario.h"
#include "model/whatif/kinds/accumulation.h"
#include "model/whatif/kinds/last_uses.h"
#include "model/whatif/kinds/optimizer.h"
#include "model/whatif/kinds/removed_blocks.h"
#include "model/whatif/kinds/spread_run.h"
#include "model/whatif/run/program_run.h"
#include "model/whatif/run/run_edits.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

[[nodiscard]] bool changes(const Scenario& scenario, Change::Kind kind);
[[nodiscard]] bool savesOnHost(const Scenario& scenario); ///< for backward

/// Which modules a scenario has checkpointed.
struct CheckpointChoices {
    explicit CheckpointChoices(const Scenario& scenario);

    std::vector<ModuleChoice> choices;
    bool takesAway = false; ///< the checkpoints that there are
};

/// What changes make of a run beside the sizes of its blocks: lines of the program that are not there, or let
/// go sooner, checkpoints, what lies on the host, and ranks, then micro-steps, and then another optimizer, or
/// what a rank has of it.
struct Rewrites {
    std::optional<RemovedBlocks> removed; ///< none: all lines stay
    std::optional<FreedTensors> freed; ///< none: the program lets go as it was recorded
    RunEdits checkpoints;
    RunEdits offload; ///< empty: nothing lies on the host
    RunEdits gradients; ///< empty: they go where they were recorded to
    std::optional<SpreadRun> spread; ///< none: over no ranks
    std::optional<Accumulation> accumulation; ///< none: as many micro-steps as were recorded
    std::int64_t microSteps = 1;
    std::optional<OptimizerRewrite> optimizer; ///< none: the recorded one

    [[nodiscard]] std::size_t ways() const { return optimizerWays() + (leavesDoubt() ? 1 : 0); }
    [[nodiscard]] ProgramRun of(ProgramRun sized, std::size_t way = 0) const;

private:
    [[nodiscard]] std::size_t optimizerWays() const { return optimizer ? optimizer->ways() : 1; }
    [[nodiscard]] bool leavesDoubt() const { return removed && !removed->doubtful.empty(); }
};

/// Whether changes can be asked for together, whatever was recorded: fails, with what to do, where nothing
/// tells what two of them come to. O(changes squared).
[[nodiscard]] Result<void> goTogether(const Scenario& scenario);

/// Fails where what a change needs is not there, or where they do not go together.
[[nodiscard]] Result<Rewrites> rewritesOf(const RecordedRun& run, const Scenario& scenario);

} // namespace strata::model
