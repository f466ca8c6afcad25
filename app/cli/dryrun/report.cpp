// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/report.h"

#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/each_card.h"
#include "app/cli/dryrun/step_time.h"
#include "model/analysis/summary/groups.h"
#include "model/base/units.h"
#include "model/cards/fits.h"
#include "model/session/opener.h"
#include "model/tables/position.h"
#include "model/trace/program/deep_step.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/ranges.h>

namespace strata::cli {

namespace {

using dryrun::DevicePeaks;
using dryrun::ProcessPeaks;
using model::formatBytes;
using model::formatExactBytes;

constexpr int kSignal = 128; // added to the number of the signal that ended a program

std::string endText(int status)
{
    if (status > kSignal && status < kSignal + 65)
        return fmt::format("was ended by signal {} ({})", status - kSignal, strsignal(status - kSignal));
    return fmt::format("ended with status {}", status);
}

std::string momentText(const dryrun::PeakMoment& moment, const ProcessPeaks& process, std::int64_t events)
{
    const auto source = static_cast<dryrun::StepSource>(process.stepSource);
    const std::string step = moment.steps > 0 ? fmt::format("after {} began", stepsText(moment.steps, source))
        : source == dryrun::StepSource::Range ? "before the first step"
                                              : "before the first optimizer step";
    return fmt::format(
        "{}, event {} of {}", step, model::formatCount(moment.event), model::formatCount(events));
}

std::string whereText(const ProcessPeaks& process, int index)
{
    const std::string device = process.devices > 1 ? fmt::format("device {}", index) : std::string("device");
    return process.rank >= 0
        ? fmt::format("rank {} of {}, {}", process.rank, std::max(process.worldSize, 1), device)
        : device;
}

std::string deviceText(const ProcessPeaks& process, int index, std::int64_t capacity)
{
    const DevicePeaks& device = process.device[index];
    std::string out = fmt::format("{}\n", whereText(process, index));
    const auto row = [&](std::string_view name, std::int64_t bytes, const std::string& when) {
        out += fmt::format("  {:<16}{:>10} {:>20}{}{}\n", name, formatBytes(bytes), formatExactBytes(bytes),
            when.empty() ? "" : "  ", when);
    };
    row("peak requested", device.requestedPeak, momentText(device.requestedPeakAt, process, device.events));
    row("peak allocated", device.allocatedPeak,
        device.allocatedIsLeast ? "at least: the program ended with its last allocation" : "");
    row("peak reserved", device.reservedPeak, momentText(device.reservedPeakAt, process, device.events));
    row("capacity", capacity, {});
    if (device.outOfMemories > 0)
        out += fmt::format(
            "  out of memory {} time{}, first when {} were asked for: the peaks are lower bounds\n",
            device.outOfMemories, device.outOfMemories == 1 ? "" : "s",
            formatExactBytes(device.firstRefused));
    return out;
}

std::string fitVerdict(model::Fit fit)
{
    return fit == model::Fit::Yes ? "Fits" : fit == model::Fit::Tight ? "Tight" : "Does not fit";
}

/// What the rest of the card is for, where it decides.
std::string contextText(model::Fit fit)
{
    return fit == model::Fit::Tight
        ? fmt::format(" and the CUDA context {} to {}", formatBytes(model::leastOutsideBytesOfProcess()),
              formatBytes(model::outsideBytesOfProcess()))
        : fit == model::Fit::No
        ? fmt::format(" and the CUDA context at least {}", formatBytes(model::leastOutsideBytesOfProcess()))
        : std::string();
}

std::string headline(const DryRunReport& report)
{
    const DryRun& run = report.run;
    std::string out;
    if (!run.fits())
        out = fmt::format("Does not fit: {} refused, {} are not enough", formatExactBytes(run.firstRefused()),
            formatBytes(run.capacityBytes));
    else if (run.exitStatus != 0)
        out = fmt::format("Failed after it had needed {} of {}", formatBytes(run.reservedPeak()),
            formatBytes(run.capacityBytes));
    else
        out = fmt::format("{}: needs {} of {}{}", fitVerdict(run.fit()), formatBytes(run.reservedPeak()),
            formatBytes(run.capacityBytes), contextText(run.fit()));
    return fmt::format("{} on a simulated {}\n", out, run.device);
}

std::string failureText(const DryRun& run, std::string_view who = "The command")
{
    std::string out;
    if (run.exitStatus != 0 && !run.processes.empty())
        out += fmt::format(
            "{} {}: its figures are of what it did until then.\n", who, endText(run.exitStatus));
    if (run.failure && run.exitStatus != 0)
        out += fmt::format("{}{}: {}\n", run.failure->where.empty() ? "" : run.failure->where + ": ",
            run.failure->kind, run.failure->what.substr(0, run.failure->what.find('\n')));
    if (const std::string hint = hintFor(run); !hint.empty())
        out += "Hint: " + hint + ".\n";
    return out;
}

std::string fitsOnText(const DryRunReport& report)
{
    std::string fitting, others;
    for (const model::CardFit& one : fitsOf(report.run, report.eachCard)) {
        if (one.fit == model::Fit::Yes || one.fit == model::Fit::Tight)
            fitting += fmt::format("  {:<18}{:>10} left{}\n", one.card->name, formatBytes(one.marginBytes),
                one.fit == model::Fit::Tight ? ", which the CUDA context may need" : "");
        else if (one.fit == model::Fit::NotComparable)
            others += (others.empty() ? "" : ", ") + one.card->name;
    }
    std::string out = fitting.empty() ? std::string() : "\nFits on\n" + fitting;
    if (!others.empty())
        out += fmt::format("\nNot comparable, since {}:\n  {}\n",
            report.options.onEachCard
                ? "no run on their GPU generation succeeded"
                : "other GPU generations run other kernels. --on-each-card runs on each of them",
            others);
    return out;
}

/// Where a request was refused nobody knows what else the program would come to ask for.
std::string tryOnText(const DryRun& run)
{
    std::string out
        = fmt::format("\nNeeds at least {}: to be tried on (--device)\n", formatBytes(run.neededAtLeast()));
    const std::vector<model::CardMargin> cards = cardsToTry(run);
    for (const model::CardMargin& one : cards)
        out += fmt::format("  {:<18}{:>10} more than that\n", one.name, formatBytes(one.marginBytes));
    return cards.empty() ? fmt::format(
               "\nNeeds at least {}, which no card of the catalogue has\n", formatBytes(run.neededAtLeast()))
                         : out;
}

std::string outsideText(const DryRun& run)
{
    const bool manyRanks = std::any_of(run.processes.begin(), run.processes.end(),
        [](const ProcessPeaks& process) { return process.worldSize > 1; });
    std::string out
        = "\nNot in these figures, or assumed (ranges of resources/devices.json, with their sources)\n";
    for (const model::Assumption& one : model::assumptions()) {
        if (one.each == "communicator" && !manyRanks)
            continue;
        out += fmt::format("  {:<18}{} to {} a {}{}\n", one.name, formatBytes(one.lowBytes),
            formatBytes(one.highBytes), one.each,
            one.countedBytes > 0 ? ", counted as PyTorch asks for it" : ", counted as 0");
    }
    return out;
}

/// A device that one of two runs used, in both.
struct ChangedDevice {
    std::string where;
    DevicePeaks base{}, changed{};
};

/// Devices of a run, of those that were used.
std::vector<ChangedDevice> changesOfUsedDevices(const DryRun& run)
{
    std::vector<ChangedDevice> used;
    for (const ProcessPeaks& process : run.processes)
        for (int i = 0; i < process.devices; ++i)
            if (process.device[i].events > 0)
                used.push_back({ whereText(process, i), process.device[i], {} });
    return used;
}

/// The same process of the program has another number in the other run: its rank tells, else its turn.
std::vector<ChangedDevice> changedDevices(const DryRun& base, const DryRun& changed)
{
    std::vector<ChangedDevice> devices = changesOfUsedDevices(base);
    std::vector<bool> met(devices.size());
    for (const ChangedDevice& other : changesOfUsedDevices(changed)) {
        std::size_t at = 0;
        while (at < met.size() && (met[at] || devices[at].where != other.where))
            ++at;
        if (at == met.size()) {
            devices.push_back({ other.where, {}, {} });
            met.push_back(false);
        }
        met[at] = true;
        devices[at].changed = other.base;
    }
    return devices;
}

std::string changedRows(const DevicePeaks& base, const DevicePeaks& changed)
{
    std::string out;
    const auto row = [&](std::string_view name, std::int64_t before, std::int64_t after) {
        out += fmt::format("  {:<18}{:>12}{:>12}{:>14}\n", name, formatBytes(before), formatBytes(after),
            (after > before ? "+" : "") + formatBytes(after - before));
    };
    row("peak requested", base.requestedPeak, changed.requestedPeak);
    row("peak reserved", base.reservedPeak, changed.reservedPeak);
    return out
        + fmt::format("  {:<18}{:>12}{:>12}{:>+14}\n", "allocations", base.allocations, changed.allocations,
            changed.allocations - base.allocations);
}

std::string changedText(const DryRunReport& report)
{
    const DryRun& base = report.run;
    const DryRun& changed = *report.changed;
    std::string out = fmt::format("\nChanged by {}{:>8}{:>12}{:>14}\n",
        fmt::join(report.options.changes, " "), "base", "changed", "difference");
    const std::vector<ChangedDevice> devices = changedDevices(base, changed);
    for (const ChangedDevice& device : devices)
        out += (devices.size() > 1 ? device.where + "\n" : "") + changedRows(device.base, device.changed);
    if (devices.size() > 1)
        out += "all devices\n";
    const auto fits = [](const DryRun& run) {
        return !run.fits() ? "no" : run.exitStatus == 0 ? "yes" : "failed";
    };
    out += fmt::format("  {:<18}{:>12}{:>12}\n", "fits", fits(base), fits(changed));
    if (changed.exitStatus != 0)
        out += failureText(changed, "The changed program");
    return out;
}

/// Which process it was that reserved most, where several did.
std::string rankText(const DryRun& run)
{
    for (std::size_t i = 0; run.processes.size() > 1 && i < run.processes.size(); ++i)
        if (i < run.recordings.size() && run.recordings[i] == run.recording && run.processes[i].rank >= 0)
            return fmt::format(" of rank {}", run.processes[i].rank);
    return {};
}

std::string groupsText(const DryRun& run, const std::vector<model::DeviceGroups>& devices)
{
    constexpr std::size_t kMostGroups = 10;
    std::string out;
    for (const model::DeviceGroups& each : devices) {
        if (each.groups.empty())
            continue;
        out += fmt::format("\nAt the peak of requested bytes{}{}, by line\n",
            devices.size() > 1 ? fmt::format(" of device {}", each.device) : "", rankText(run));
        for (std::size_t i = 0; i < std::min(each.groups.size(), kMostGroups); ++i)
            out += fmt::format("  {:>10}  {}\n", formatBytes(each.groups[i].bytes), each.groups[i].key);
    }
    return out;
}

std::string stepsOf(const DryRun& run)
{
    switch (run.stepSource()) {
    case dryrun::StepSource::None:
        return run.hasUnseenSteps() ? "Optimizer steps that cannot be seen," : "No optimizer step";
    case dryrun::StepSource::Optimizer:
        return stepsText(run.steps(), run.stepSource())
            + (run.allSteps() > run.steps() ? fmt::format(" ({} of all optimizers together)", run.allSteps())
                                            : "");
    case dryrun::StepSource::Range:
        return stepsText(run.steps(), run.stepSource()) + " marked by the program,";
    }
    return {};
}

std::string spreadText(const DryRunReport& report)
{
    std::int64_t lowest = report.run.reservedPeak();
    std::int64_t highest = lowest;
    std::string out = "\nReserved under other orders of addresses\n";
    const auto row = [&](std::string_view name, std::int64_t bytes, bool fits) {
        lowest = std::min(lowest, bytes);
        highest = std::max(highest, bytes);
        out += fmt::format("  {:<16}{:>10} {:>20}{}\n", name, formatBytes(bytes), formatExactBytes(bytes),
            fits ? "" : "  does not fit");
    };
    row(report.options.addresses, report.run.reservedPeak(), report.run.fits());
    for (const model::AddressOrderRun& other : report.spread)
        row(other.addresses, other.reservedPeak, other.fits);
    return out
        + fmt::format("  it moves by {} ({:.2f} %)\n", formatExactBytes(highest - lowest),
            lowest > 0 ? 100.0 * static_cast<double>(highest - lowest) / static_cast<double>(lowest) : 0.0);
}

} // namespace

std::vector<model::CardMargin> cardsToTry(const DryRun& run)
{
    return run.fits() ? std::vector<model::CardMargin>()
                      : model::cardsWithRoom(run.neededAtLeast(), true, run.capacityBytes);
}

std::vector<model::DeviceGroups> peakGroups(const DryRun& run, std::string& whyNoDeepStep)
{
    std::vector<model::DeviceGroups> out;
    if (run.recording.empty())
        return out;
    const auto session = model::Opener::openAll(run.recording);
    if (!session)
        return out;
    const model::Recording& recording = (*session)->recording();
    if (const auto* const deep = recording.parts.find<model::DeepSteps>())
        for (const model::DeepStep& step : deep->steps)
            if (step.unusable.valid())
                whyNoDeepStep = recording.strings[step.unusable];
    for (const model::DeviceTrace& trace : (*session)->devices()) {
        const auto peak = model::parsePosition("peak", trace);
        if (!peak)
            continue;
        model::DeviceGroups& device = out.emplace_back();
        device.device = trace.device();
        device.reservedMost = &trace == (*session)->defaultDevice();
        const model::GroupTable table(trace, model::Grouping::Line);
        for (const model::GroupSum& group : model::groupsAt(trace, table, *peak).groups)
            device.groups.push_back({ table.label(group.group), group.bytes });
    }
    return out;
}

std::string dryRunText(const DryRunReport& report)
{
    const DryRun& run = report.run;
    if (run.processes.empty())
        return fmt::format("The command {} and never used the simulated device.\n{}", endText(run.exitStatus),
            failureText(run));
    const std::string note = stepsNote(report.options, run);
    std::string out = headline(report) + failureText(run) + "\n";
    for (const ProcessPeaks& process : run.processes) {
        for (int i = 0; i < process.devices; ++i) {
            if (process.device[i].events > 0)
                out += deviceText(process, i, run.capacityBytes);
        }
    }
    out += groupsText(run, report.groups);
    if (report.changed)
        out += changesNote(report.options, *report.changed).empty()
            ? changedText(report)
            : fmt::format("\n{}.\n", changesNote(report.options, *report.changed));
    if (!report.spread.empty())
        out += spreadText(report);
    if (run.fits() && run.exitStatus == 0)
        out += fitsOnText(report);
    else if (!run.fits())
        out += tryOnText(run);
    if (report.options.time)
        out += stepTimeText(stepTimeOf(run, report.eachCard), run.device);
    out += outsideText(run);
    if (!report.whyNoDeepStep.empty())
        out += fmt::format("\nNo deep step: {}.\n", report.whyNoDeepStep);
    out += fmt::format("\n{} with torch {}.{} Simulated: values are zeros and {}.{}\n", stepsOf(run),
        run.torchVersion.empty() ? "of unknown version" : run.torchVersion,
        note.empty() ? "" : fmt::format(" {}.", note),
        report.options.time ? "times are lower bounds" : "there are no times",
        run.skippedWeights() ? " Weights on the CPU were not initialised (--no-skip-init does it)." : "");
    return out;
}

} // namespace strata::cli
