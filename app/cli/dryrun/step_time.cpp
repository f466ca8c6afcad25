// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/step_time.h"

#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/each_card.h"
#include "model/base/units.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace strata::cli {

namespace {

using model::formatBytes;
using model::formatCount;

constexpr const char* kOutside = "outside of operators";

std::int64_t whole(double figure)
{
    return std::llround(figure);
}

std::string durationText(double ns)
{
    return model::formatDuration(whole(ns));
}

/// The devices of a process that took part.
int usedDeviceCount(const dryrun::ProcessPeaks& process)
{
    const auto used = std::count_if(process.device, process.device + process.devices,
        [](const dryrun::DevicePeaks& device) { return device.events > 0; });
    return std::max(static_cast<int>(used), 1);
}

std::string whichText(const StepTime& time)
{
    std::string out = time.step.step ? fmt::format("step {}", *time.step.step)
                                     : std::string("all that the program did: it made no whole step");
    if (time.rank >= 0)
        out += fmt::format(", rank {}", time.rank);
    if (time.devices > 1)
        out += fmt::format(", shared evenly by {} devices", time.devices);
    return out;
}

std::string unknownText(const StepTime& time)
{
    constexpr std::size_t kMostNames = 6;
    const model::LeastStep& least = time.least;
    std::vector<std::string> names;
    for (const model::UnknownOperator& each : least.unknown)
        names.push_back(fmt::format("{} ({})", each.name, formatCount(each.launches)));
    if (least.outsideLaunches > 0)
        names.push_back(fmt::format("{} ({})", kOutside, formatCount(least.outsideLaunches)));
    if (names.empty())
        return {};
    if (names.size() > kMostNames) {
        const std::string more = fmt::format("{} more", names.size() - kMostNames);
        names.resize(kMostNames);
        names.push_back(more);
    }
    return fmt::format("  of unknown cost, and in no figure: {} of {} launches: {}\n",
        formatCount(least.unknownLaunches), formatCount(time.step.launches), fmt::join(names, ", "));
}

std::string collectivesText(const StepTime& time)
{
    std::string out;
    for (const model::LaunchedCollective& each : time.step.collectives)
        out += fmt::format("  over the wire, and in no figure: {} in {} calls of {}\n",
            formatBytes(each.bytes), formatCount(each.calls), each.name);
    return out;
}

std::string cpuText(const model::LaunchedStep& step)
{
    if (!step.stepNs)
        return {};
    return fmt::format("  launching it took {} on this machine's CPU ({})\n",
        model::formatDuration(*step.stepNs),
        step.stepsTimed > 1 ? fmt::format("median of {} steps", step.stepsTimed) : std::string("one step"));
}

std::string cardsText(const StepTime& time)
{
    std::string out = "  on the cards that it fits on, at least\n";
    bool any = false;
    for (const CardTime& each : time.cards) {
        if (each.fits)
            out += fmt::format("    {:<18}{:>10}\n", each.card->name, durationText(each.leastNs));
        any = any || each.fits;
    }
    return any ? out : std::string();
}

std::vector<model::DryRunKind> kindsOf(const model::LeastStep& least)
{
    std::vector<model::DryRunKind> out;
    for (const model::LeastKind& kind : least.kinds)
        out.push_back({ .kind = std::string(model::costKindWord(kind.kind)),
            .calls = kind.calls,
            .launches = kind.launches,
            .flops = whole(kind.flops),
            .bytes = whole(kind.bytes),
            .leastNs = whole(kind.leastNs),
            .rooflineNs = whole(kind.rooflineNs) });
    return out;
}

} // namespace

StepTime stepTimeOf(const DryRun& run, const std::vector<model::OtherCardRun>& others)
{
    StepTime out;
    out.step.problem = "no process with a device was seen to its end";
    const model::Card* const simulated = model::findCard(run.device);
    for (const model::LaunchedStep& step : run.launched) {
        const auto process = std::ranges::find(run.processes, step.process, &dryrun::ProcessPeaks::process);
        if (!simulated || process == run.processes.end())
            continue;
        const int devices = usedDeviceCount(*process);
        model::LeastStep least = model::leastStepOn(step, *simulated, devices);
        const bool isFirst = out.step.process == 0;
        if (!isFirst && (!step.problem.empty() || least.leastNs <= out.least.leastNs))
            continue;
        out.step = step;
        out.rank = process->worldSize > 1 ? process->rank : -1;
        out.devices = devices;
        out.least = std::move(least);
    }
    if (!out.step.problem.empty())
        return out;
    for (const model::CardFit& one : fitsOf(run, others)) {
        if (one.card->bandwidth > 0)
            out.cards.push_back({ one.card, model::leastStepOn(out.step, *one.card, out.devices).leastNs,
                run.fits() && (one.fit == model::Fit::Yes || one.fit == model::Fit::Tight) });
    }
    return out;
}

model::DryRunTime timeAnswer(const StepTime& time, const std::string& card)
{
    model::DryRunTime answer{ .card = card, .problem = {}, .figures = {} };
    if (!time.step.problem.empty()) {
        answer.problem = time.step.problem;
        return answer;
    }
    model::DryRunTimeFigures& out = answer.figures.value.emplace();
    out.step = time.step.step;
    if (time.rank >= 0)
        out.rank = time.rank;
    out.devices = time.devices;
    out.leastNs = whole(time.least.leastNs);
    out.rooflineNs = whole(time.least.rooflineNs);
    out.flops = whole(time.least.flops);
    out.flopsInFull = whole(time.least.flopsInFull);
    out.bytes = whole(time.least.bytes);
    out.kinds = kindsOf(time.least);
    out.launches = time.step.launches;
    out.unknown.launches = time.least.unknownLaunches;
    out.unknown.outsideLaunches = time.least.outsideLaunches;
    for (const model::UnknownOperator& each : time.least.unknown)
        out.unknown.operators.push_back({ each.name, each.calls, each.launches });
    for (const model::LaunchedCollective& each : time.step.collectives)
        out.collectives.push_back({ each.name, each.calls, each.bytes });
    out.cpuStepNs = time.step.stepNs;
    out.stepsTimed = time.step.stepsTimed;
    for (const CardTime& each : time.cards)
        out.cards.push_back({ each.card->name, whole(each.leastNs), each.fits });
    return answer;
}

std::string stepTimeText(const StepTime& time, const std::string& card)
{
    if (!time.step.problem.empty())
        return fmt::format("\nHow long a step takes at least is not known: {}.\n", time.step.problem);
    const model::LeastStep& least = time.least;
    std::string out = fmt::format("\n{} takes at least {} on {} ({})\n",
        time.step.step ? "A step" : "The program", durationText(least.leastNs), card, whichText(time));
    for (const model::LeastKind& kind : least.kinds)
        out += fmt::format("  {:<18}{:>10}{:>6.0f} %{:>14}{:>12}\n", model::costKindWord(kind.kind),
            durationText(kind.leastNs), least.leastNs > 0 ? 100 * kind.leastNs / least.leastNs : 0.0,
            model::formatFlops(kind.flops), formatBytes(whole(kind.bytes)));
    out += fmt::format(
        "  {}, operands and results of {}, in {} launches; {} if all of these came from memory\n",
        model::formatFlops(least.flops), formatBytes(whole(least.bytes)), formatCount(time.step.launches),
        durationText(least.rooflineNs));
    out += unknownText(time) + collectivesText(time) + cpuText(time.step) + cardsText(time);
    return out
        + fmt::format(
            "  Simulated: order, names, counts, streams and launches are real; the duration is at "
            "least {}, by FLOPs\n  or bytes on {}'s peaks; real kernels took 1.4 to 10 times that, "
            "tiny ones more, in two H100 traces.\n  Causal attention is counted as it is done: half.\n"
            "  Operands that the card's L2 cache can hold cost no time.\n",
            durationText(least.leastNs), card);
}

} // namespace strata::cli
