// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/whatif/plan_report.h"

#include "app/cli/text.h"
#include "app/cli/whatif/alternatives_report.h"
#include "app/cli/whatif/report.h"
#include "model/base/units.h"

#include <fmt/format.h>

namespace strata::cli {

namespace {

using model::CheckpointPlan;
using model::formatBytes;
using model::PlanModule;

std::string percent(double share)
{
    return fmt::format("{:.1f} %", share * 100);
}

/// What computing something again takes, and of how much of the forward that is.
std::string recomputeOf(const CheckpointPlan& plan, std::int64_t recompute, double share)
{
    return plan.hasTimes() ? fmt::format("{}, {}", model::formatDuration(recompute), percent(share))
                           : percent(share);
}

std::string nameOf(const model::FitOption& option)
{
    return scenarioName(option.with({}));
}

std::string sureOf(const model::FitOption& option)
{
    return option.calls            ? surenessOf(*option.calls)
        : option.prediction->exact ? "exact"
        : option.likelyPeaks()     ? "an estimate"
                                   : "a range only";
}

/// What a plan comes to, as a part of a sentence.
std::string foundOf(const model::FitPlan& plan)
{
    const model::FitOption& chosen = plan.answer();
    const std::string capacity = formatBytes(plan.capacityBytes);
    if (plan.likelyMet() && chosen.calls)
        return fmt::format("{} fits {} {}", nameOf(chosen), capacity, surenessOf(*chosen.calls));
    if (plan.likelyMet())
        return fmt::format(
            "{} fits {} by the likeliest sizes alone, and by others of its bounds it does not: a second "
            "recording with another batch (--with FILE2) tells each size",
            nameOf(chosen), capacity);
    if (!plan.met())
        return fmt::format("nothing that was tried fits {}: the least needs {}", capacity,
                   formatBytes(chosen.mostReservedBytes()))
            + (plan.knowsBatch ? "" : "; the batch size is not known: --batch-of N tries smaller ones");
    if (plan.goal != model::FitGoal::LargestBatch)
        return fmt::format("{} fits {}", nameOf(chosen), capacity);
    if (chosen.mostItemsTried)
        return fmt::format("{} fits {}; no more than {} times the recorded items were tried", nameOf(chosen),
            capacity, model::formatCount(model::kMostTimesItems));
    return fmt::format("{} is the largest that fits {}{}", nameOf(chosen), capacity,
        chosen.prediction->predicted ? "" : ", by the runs of its bounds, too");
}

} // namespace

void printPlan(Output& out, const CheckpointPlan& plan)
{
    const model::PlannedCheckpoints& chosen = plan.chosen;
    const std::string needed = formatBytes(chosen.prediction.most.reservedBytesPeak);
    if (!plan.met)
        out.line(fmt::format("  {}: {} is not met: the least that checkpoints lead to is {}",
            out.bad("no plan"), formatBytes(plan.budgetBytes), needed));
    else if (chosen.modules.empty())
        out.line(fmt::format("  {}: nothing needs to be checkpointed for {}", out.good("plan"),
            formatBytes(plan.budgetBytes)));
    else
        out.line(fmt::format(
            "  {}: {} is met, with {} at most", out.good("plan"), formatBytes(plan.budgetBytes), needed));
    if (plan.atLeast)
        out.line(
            "  as far as it was recorded: a request was refused then, and what comes behind it is not known");
    if (chosen.modules.empty())
        return;
    constexpr const char* kRow = "  {:<40} {:<24} {:>14} {:>20}";
    out.line(fmt::format(kRow, "module", "class", "keeps less", "computed again"));
    for (const std::size_t number : chosen.modules) {
        const PlanModule& module = plan.modules[number];
        out.line(fmt::format(kRow, printable(module.path), printable(module.type),
            formatBytes(module.savedBytes), recomputeOf(plan, module.recompute, module.share)));
    }
    out.line(fmt::format(
        kRow, "in all, of the forward of a step", "", "", recomputeOf(plan, chosen.recompute, chosen.share)));
    out.line(plan.exact
            ? fmt::format("  no other choice of the {} modules that save something costs less, by {}",
                plan.modules.size(),
                plan.hasTimes() ? "the time of their kernels" : "the bytes that they ask for again")
            : fmt::format("  chosen step by step among {} modules, by {}", plan.modules.size(),
                plan.hasTimes() ? "the time of their kernels" : "the bytes that they ask for again"));
    if (const auto& segments = plan.segments)
        out.line(fmt::format("  for comparison: the {} calls of {} in {} stretches, each behind one "
                             "checkpoint, would reserve {} and compute {} again",
            segments->calls, printable(segments->type), segments->stretches,
            formatBytes(segments->predicted.reservedBytesPeak), percent(segments->share)));
    out.line("  code to paste behind where the program makes its model:");
    out.line("");
    out.write(plan.code());
    out.line("");
}

void printPlan(Output& out, const model::FitPlan& plan)
{
    const model::FitOption& chosen = plan.answer();
    out.line(fmt::format("  {}: {}",
        plan.met()             ? out.good("plan")
            : plan.likelyMet() ? out.bad("no plan that is sure")
                               : out.bad("no plan"),
        foundOf(plan)));
    constexpr const char* kRow = "  {:<52} {:>12} {:>14} {:>16} {:>6}   {}";
    out.line(fmt::format(kRow, "with", "reserved", "at most", "computed again", "fits", "how sure"));
    for (const model::FitOption& option : plan.options) {
        const auto likely = option.likelyPeaks();
        out.line(fmt::format(kRow, nameOf(option), likely ? formatBytes(likely->reservedBytesPeak) : "-",
            option.calls ? "-" : formatBytes(option.mostReservedBytes()),
            option.share > 0 ? percent(option.share) : "",
            option.fits             ? "yes"
                : option.fitsLikely ? "likely"
                                    : "no",
            sureOf(option)));
    }
    for (const model::LeftOut& left : plan.leftOut)
        out.line(fmt::format("  left out: {}: {}",
            scenarioName({ .changes = left.changes, .settings = {}, .capacityBytes = {} }),
            printable(left.why.what.text())));
    if (!chosen.checkpoints || chosen.checkpoints->chosen.modules.empty())
        return;
    out.line("  code to paste behind where the program makes its model:");
    out.line("");
    out.write(chosen.checkpoints->code());
    out.line("");
}

} // namespace strata::cli
