// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/answer_fields.h"
#include "model/base/progress.h"
#include "model/base/result.h"
#include "model/whatif/answer/predict.h"
#include "model/whatif/calls/call_hints.h"
#include "model/whatif/plan/checkpoint_plan.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace strata::model {

/// What a run needs with some changes more.
struct FitOption {
    std::vector<Change> changes; ///< beside those of the scenario
    std::optional<std::string> settings; ///< of the allocator, where they are others
    std::optional<CheckpointPlan> checkpoints; ///< that chose the last of `changes`
    double share = 0; ///< of the forward of a step, that is computed again
    std::optional<Prediction> prediction; ///< none: nothing tells, or calls do
    std::optional<PeaksByCalls> calls; ///< instead of a prediction
    /// That is supported: there is a point, or the runs of the bounds fit, too.
    bool fits = false;
    bool fitsLikely = false; ///< the likeliest run does; where there are bounds alone that is no evidence
    /// The batch is as large as any that was looked at, with so many items: a larger one may fit, too.
    std::optional<std::int64_t> mostItemsTried;
    std::int64_t neededBytes = 0; ///< reserved where there is no end of memory

    [[nodiscard]] Scenario with(Scenario scenario) const; ///< the scenario and these
    /// None: a range only, or no figures.
    [[nodiscard]] std::optional<PeakFigures> likelyPeaks() const
    {
        return calls ? calls->peaks : prediction ? prediction->predicted : std::nullopt;
    }
    /// Upper bound of the reserved peak; of calls, which have none, the peak itself.
    [[nodiscard]] std::int64_t mostReservedBytes() const
    {
        return calls ? calls->peaks.reservedBytesPeak : prediction ? prediction->most.reservedBytesPeak : 0;
    }
};

/// Changes that recorded calls refuse.
struct LeftOut {
    std::vector<Change> changes;
    Error why;
};

template <> struct Fields<LeftOut> {
    static constexpr std::tuple all{
        field("changes", Unit::None, "values of `--change`",
            [](const LeftOut& of) { return changeTexts(of.changes); }),
        field("reason", Unit::None, "why the calls refuse them", &LeftOut::why),
    };
};

/// What is looked for.
enum class FitGoal : std::uint8_t {
    LargestBatch,
    Cheapest, ///< at the least cost
};
[[nodiscard]] constexpr std::string_view fitGoalWord(FitGoal goal) ///< as `--plan` takes it
{
    return goal == FitGoal::LargestBatch ? "largest-batch" : "cheapest";
}

/// What makes a run fit a device.
struct FitPlan {
    FitGoal goal = FitGoal::Cheapest;
    std::int64_t capacityBytes = 0;
    std::vector<FitOption> options; ///< as asked for, one at least
    std::size_t chosen = 0;
    std::size_t freeOptions = 0; ///< of Cheapest: the first so many cost no time
    bool knowsBatch = false; ///< else no batch was tried
    std::vector<LeftOut> leftOut; ///< of changes that calls were asked for

    void choose(); ///< the first that fits, else the first that likely does, else the one that needs least

    [[nodiscard]] const FitOption& answer() const { return options[chosen]; }
    [[nodiscard]] bool met() const { return answer().fits; }
    /// Not met, as far as what is known goes; but if sizes are as is likeliest.
    [[nodiscard]] bool likelyMet() const { return !met() && answer().fitsLikely; }
};

template <> struct Fields<FitOption> {
    static constexpr std::tuple all{
        field("changes", Unit::None, "values of `--change`",
            [](const FitOption& option) { return changeTexts(option.changes); }),
        field("settings", Unit::None, "of the allocator; null: as they were", &FitOption::settings),
        field("batch_after", Unit::Count, "batch size; null: the same",
            [](const FitOption& option) {
                return option.prediction ? option.prediction->batchAfter : std::nullopt;
            }),
        field("fits", Unit::None, "it fits the device", &FitOption::fits),
        field("fits_likely", Unit::None, "by the likeliest sizes, which is no evidence for a range only",
            &FitOption::fitsLikely),
        field("most_items_tried", Unit::Count,
            "all batches that were tried fit, up to this batch size; else null", &FitOption::mostItemsTried),
        field("predicted", Unit::None, "peaks; null: a range only, or `by_calls`",
            [](const FitOption& option) {
                return option.prediction ? option.prediction->predicted : std::nullopt;
            }),
        field("by_calls", Unit::None, "with `--confirm`: what recorded calls show instead; else null",
            &FitOption::calls),
        field("needed_bytes", Unit::Bytes,
            "upper bound of the reserved peak; of `by_calls` the peak itself, which has no bound",
            &FitOption::mostReservedBytes),
        field("recompute_share", Unit::None, "computed again, as a share of the forward",
            [](const FitOption& option) { return decimals(option.share, 6); }),
    };
};

template <> struct Fields<FitPlan> {
    static constexpr std::tuple all{
        field("met", Unit::None, "the answer fits the device", &FitPlan::met),
        field("capacity_bytes", Unit::Bytes, "of the device", &FitPlan::capacityBytes),
        field("method", Unit::None, "`largest-batch` or `cheapest`",
            [](const FitPlan& plan) { return fitGoalWord(plan.goal); }),
        field("predicted", Unit::None, "peaks of the answer; null: a range only, or calls show them",
            [](const FitPlan& plan) {
                return plan.answer().prediction ? plan.answer().prediction->predicted : std::nullopt;
            }),
        field("needed_bytes", Unit::Bytes, "that of the answer, as in `rows`",
            [](const FitPlan& plan) { return plan.answer().mostReservedBytes(); }),
        field("recompute_share", Unit::None, "computed again by the answer, as a share of the forward",
            [](const FitPlan& plan) { return decimals(plan.answer().share, 6); }),
        field("rows", Unit::None, "what was tried", &FitPlan::options),
        field("chosen", Unit::Count, "which of `rows` is the answer, from 0", &FitPlan::chosen),
        field("left_out", Unit::None, "changes that recorded calls refuse", &FitPlan::leftOut),
        field("code", Unit::None, "Python to paste; null: nothing",
            [](const FitPlan& plan) {
                const auto& checkpoints = plan.answer().checkpoints;
                return checkpoints ? std::optional(checkpoints->code()) : std::nullopt;
            }),
    };
};

/// What fits runs without a refused request on a device with the capacity, and on one with the capacity
/// divided by this: predictions are off by as much, and where an allocator runs out, gives back what it
/// caches and goes on, which is no refusal, it may get on with less and not with more.
inline constexpr double kFitMargin = 1.02;

/// Times as many items as were recorded, up to which batches are looked at: what does not grow with its batch
/// would fit with any.
inline constexpr std::int64_t kMostTimesItems = 65'536;
/// More than any card has, and little enough that sums of sizes are sums.
inline constexpr std::int64_t kMostCapacityBytes = std::int64_t{ 1 } << 44;

/// The largest batch that fits the device of the scenario, or of the recording: without more changes, and,
/// where a deep step tells of modules, with checkpoints around the likeliest ones. More items are taken to
/// need more, so that a smaller batch than what is found may not fit near the end of memory; the chosen one
/// has the most items of those that fit. Where that has bounds alone of which a run does not fit, the largest
/// is looked for, too, of which all runs do. At most kMostTimesItems times the recorded items are looked at.
/// An option that does not fit even with one item has that one. Fails as predict() of a batch, with Usage
/// where no capacity is known, and with Refused where a request was refused as it was recorded: nothing tells
/// what the program needs. Two first looks for each batch that is tried, about thirty.
[[nodiscard]] Result<FitPlan> planLargestBatch(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress = {});

using AnyPlan = std::variant<CheckpointPlan, FitPlan>;

/// Whether the program as it is does not meet the plan.
[[nodiscard]] bool needsChanges(const AnyPlan& plan);

/// What makes it fit at the least cost: one option for each of nothing, other settings of the allocator (no
/// time is lost), the fused form of the recorded optimizer (none either), both, checkpoints on top of what
/// saved so far (the least recompute), other single changes of the run by their effort (alternativesTo()),
/// and a smaller batch on top of all, which changes the training. The chosen one is the first that fits, or
/// the first that likely does, or where none does the one that needs least. What is refused is left out.
/// Fails as planLargestBatch().
[[nodiscard]] Result<FitPlan> planCheapest(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress = {});

/// planCheapest(); where it is refused, or nothing fits with the room that kFitMargin leaves, what
/// planCheckpoints() finds for the capacity, if that is met. Fails as planCheapest().
[[nodiscard]] Result<AnyPlan> planForCapacity(
    const std::vector<RecordedRun>& runs, const Scenario& scenario, const Progress& progress = {});

/// Answers a scenario by recorded calls that are made again. Kind::Refused: they do not tell it.
using AskCalls = std::function<Result<FitOption>(FitOption option)>;

/// planCheapest() for `capacityBytes`, with what recorded calls alone answer between other options: attention
/// by another kernel, the logits in chunks, and both, behind the fused optimizer and before checkpoints; the
/// same with the planned checkpoints behind those. Each is asked for until one fits; where an option without
/// them costs less and fits, none is. Seven are asked for at most. Fails as planCheapest(), and as `ask` but
/// for Refused, which is left out.
[[nodiscard]] Result<FitPlan> planWithCalls(const std::vector<RecordedRun>& runs, const Scenario& scenario,
    const AskCalls& ask, const Progress& progress = {});

/// What keeps a run within a budget: planCheckpoints(); where that is refused, or checkpoints do not suffice,
/// planCheapest() for a device with so much, unless `asked` names modules to choose among. Where neither is
/// met: the checkpoints that need least. Fails as planCheckpoints().
[[nodiscard]] Result<AnyPlan> planWithin(const std::vector<RecordedRun>& runs, const Scenario& scenario,
    const PlanAsked& asked, const Progress& progress = {});

} // namespace strata::model
