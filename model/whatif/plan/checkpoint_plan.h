// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/evidence/recompute_cost.h"
#include "model/whatif/plan/plan_code.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
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
    [[nodiscard]] bool hasTimes() const { return measure == RecomputeMeasure::KernelTime; }
};

/// Points to its plan.
struct PlanModuleIn {
    const CheckpointPlan* plan = nullptr;
    std::size_t number = 0;

    [[nodiscard]] const PlanModule& module() const { return plan->modules[number]; }
};

template <> struct Fields<PlanModuleIn> {
    static constexpr std::tuple all{
        field("module", Unit::None, "its path", [](const PlanModuleIn& in) { return in.module().path; }),
        field("class", Unit::None, "its class", [](const PlanModuleIn& in) { return in.module().type; }),
        field("saved_bytes", Unit::Bytes, "kept for backward now, and not if it alone is checkpointed",
            [](const PlanModuleIn& in) { return in.module().savedBytes; }),
        field("recompute_ns", Unit::Nanoseconds, "kernel time that a step computes again; null: not recorded",
            [](const PlanModuleIn& in) {
                return in.plan->hasTimes() ? std::optional(in.module().recompute) : std::nullopt;
            }),
        field("recompute_share", Unit::None, "computed again, as a share of the forward",
            [](const PlanModuleIn& in) { return decimals(in.module().share, 6); }),
        field("code", Unit::None, "its line of Python",
            [](const PlanModuleIn& in) { return checkpointLine(in.module().name); }),
    };
};

template <> struct Fields<SegmentPlan> {
    static constexpr std::tuple all{
        field("class", Unit::None, "class of the modules that are called", &SegmentPlan::type),
        field("calls", Unit::Count, "calls of these modules, one after the other", &SegmentPlan::calls),
        field("stretches", Unit::Count, "about the square root of `calls`, each behind one checkpoint",
            &SegmentPlan::stretches),
        field("predicted", Unit::None, "peaks", &SegmentPlan::predicted),
        field("recompute_share", Unit::None, "computed again, as a share of the forward",
            [](const SegmentPlan& segments) { return decimals(segments.share, 6); }),
    };
};

template <> struct Fields<CheckpointPlan> {
    static constexpr std::tuple all{
        field("met", Unit::None, "`needed_bytes` is within the budget", &CheckpointPlan::met),
        field("at_least", Unit::None,
            "a request was refused when the program was recorded: the plan holds as far as that goes",
            &CheckpointPlan::atLeast),
        field("budget_bytes", Unit::Bytes, "budget of `--plan`", &CheckpointPlan::budgetBytes),
        field("method", Unit::None, "`exact` (the cheapest of all choices, as predicted) or `greedy`",
            [](const CheckpointPlan& plan) { return plan.exact ? "exact" : "greedy"; }),
        field("measure", Unit::None, "costs are of `kernels` or of `bytes`",
            [](const CheckpointPlan& plan) { return measureWord(plan.measure); }),
        field("predicted", Unit::None, "peaks; null: a range only",
            [](const CheckpointPlan& plan) { return plan.chosen.prediction.predicted; }),
        field("needed_bytes", Unit::Bytes, "upper bound of the reserved peak",
            [](const CheckpointPlan& plan) { return plan.chosen.prediction.most.reservedBytesPeak; }),
        field("recompute_ns", Unit::Nanoseconds, "kernel time that a step computes again; null: not recorded",
            [](const CheckpointPlan& plan) {
                return plan.hasTimes() ? std::optional(plan.chosen.recompute) : std::nullopt;
            }),
        field("recompute_share", Unit::None, "computed again, as a share of the forward",
            [](const CheckpointPlan& plan) { return decimals(plan.chosen.share, 6); }),
        field("rows", Unit::None, "modules to checkpoint",
            [](const CheckpointPlan& plan) {
                return plan.chosen.modules | std::views::transform([of = &plan](std::size_t number) {
                    return PlanModuleIn{ of, number };
                });
            }),
        field("changes", Unit::None, "the same as values of `--change`",
            [](const CheckpointPlan& plan) { return changeTexts(plan.changes()); }),
        field("code", Unit::None, "Python to paste after the program has made its `model`",
            &CheckpointPlan::code),
        field("segments", Unit::None,
            "for comparison: one checkpoint around each of several stretches of calls; null: no such chain",
            &CheckpointPlan::segments),
        field("modules", Unit::None, "all modules that could be checkpointed, as `rows`",
            [](const CheckpointPlan& plan) {
                return std::views::iota(std::size_t{ 0 }, plan.modules.size())
                    | std::views::transform([of = &plan](std::size_t number) {
                          return PlanModuleIn{ of, number };
                      });
            }),
    };
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
