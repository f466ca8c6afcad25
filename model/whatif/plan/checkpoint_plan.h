// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/evidence/recompute_cost.h"
#include "model/whatif/plan/plan_code.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace strata::model {

/// A module that a plan may checkpoint: one that the deep step saw save something which it then need not
/// keep.
struct PlanModule {
    std::string path; ///< as recordings name it: "blocks.3.attn"
    std::string type; ///< its class
    NamedModule name; ///< for Python
    std::int64_t savedBytes = 0; ///< checkpointed alone, goes between its forward and its backward
    std::int64_t recompute = 0; ///< of a step, in the plan's measure
    double share = 0; ///< of the step's forward
};

/// Modules behind checkpoints, and what that comes to.
struct PlannedCheckpoints {
    std::vector<std::size_t> modules; ///< of CheckpointPlan::modules, none within another
    std::int64_t recompute = 0;
    double share = 0;
    Prediction prediction;
};

/// The known way to checkpoint a chain: of n calls one after the other about sqrt(n) stretches, each behind
/// one checkpoint (Chen et al., 2016, arXiv 1604.06174). Only a reference: no `--change` makes stretches.
struct SegmentPlan {
    std::string type; ///< class of the calls
    std::size_t calls = 0, stretches = 0;
    PeakFigures predicted;
    double share = 0; ///< of the step's forward
};

struct CheckpointPlan {
    std::int64_t budgetBytes = 0;
    bool met = false;
    /// The recording was refused a request, and nothing tells what the program would have asked for then: the
    /// budget is met as far as it was recorded.
    bool atLeast = false;
    bool exact = false; ///< no other choice of `modules` that meets the budget costs less, as predicted
    RecomputeMeasure measure = RecomputeMeasure::Bytes;
    std::vector<PlanModule> modules; ///< that could be checkpointed, in the order of their first calls
    PlannedCheckpoints
        chosen; ///< the cheapest that meets the budget; where none does, that which needs least
    std::optional<SegmentPlan> segments; ///< none: fewer than four such calls, or an optimizer changes too

    /// As `--change` has it: "checkpoint=path:blocks.0".
    [[nodiscard]] std::vector<Change> changes() const;
    [[nodiscard]] std::string code() const; ///< checkpointCode() of the chosen ones
};

struct PlanAsked {
    std::int64_t budgetBytes = 0;
    /// Only modules that one of them matches, as ModuleChoice; empty: all.
    std::vector<std::string> among;
};

/// Which modules to checkpoint, beside what the scenario changes, so that the higher bound of the predicted
/// reserved peak is not above the budget, at the least recompute. What modules save is not additive: every
/// choice is predicted as a whole, and the prediction is asked again as a plan grows.
///
/// Up to kExactModules modules: all choices, cheapest first, until one meets the budget; those whose
/// requested bytes alone exceed it in the deep step are passed over without a replay. More, or where that
/// takes too many replays: greedy by how much less lies above the budget, over the step, per recompute; then
/// modules are left out and exchanged for cheaper ones while the budget is met.
///
/// Fails as predict(), and with Refused where no deep step tells of modules that save something. A replay for
/// each choice that is looked at: 600 at most, fewer of long traces (60 of half a million events and more).
[[nodiscard]] Result<CheckpointPlan> planCheckpoints(const std::vector<RecordedRun>& runs,
    const Scenario& scenario, const PlanAsked& asked, const Progress& progress = {});

inline constexpr std::size_t kExactModules = 12;

} // namespace strata::model
