// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/each_card.h"
#include "app/cli/dryrun/report.h"
#include "app/cli/dryrun/step_time.h"

#include <algorithm>

namespace strata::cli {

namespace {

using dryrun::DevicePeaks;
using dryrun::ProcessPeaks;

model::DryRunMoment momentOf(const dryrun::PeakMoment& moment)
{
    return { .event = moment.event, .steps = moment.steps };
}

std::vector<model::DryRunRank> ranksOf(const DryRun& run)
{
    std::vector<model::DryRunRank> out;
    for (const ProcessPeaks& process : run.processes) {
        model::DryRunRank& rank = out.emplace_back();
        rank.rank = std::max(process.rank, 0);
        rank.worldSize = std::max(process.worldSize, 1);
        rank.process = process.process;
        for (int i = 0; i < process.devices; ++i) {
            const DevicePeaks& device = process.device[i];
            const bool fits = device.outOfMemories == 0;
            rank.devices.push_back({ .device = i,
                .requestedPeak = device.requestedPeak,
                .allocatedPeak = device.allocatedPeak,
                .reservedPeak = device.reservedPeak,
                .fits = fits,
                .outOfMemories = device.outOfMemories,
                .firstRefused = fits ? std::nullopt : std::optional(device.firstRefused) });
        }
    }
    return out;
}

std::vector<model::DryRunTracked> trackedOf(const DryRun& run)
{
    std::vector<model::DryRunTracked> out;
    for (const ProcessPeaks& process : run.processes) {
        for (int i = 0; i < process.devices; ++i) {
            const DevicePeaks& device = process.device[i];
            if (device.events > 0)
                out.push_back({ .rank = std::max(process.rank, 0),
                    .device = i,
                    .events = device.events,
                    .allocations = device.allocations,
                    .allocatedIsLeast = device.allocatedIsLeast != 0,
                    .requestedPeakAt = momentOf(device.requestedPeakAt),
                    .reservedPeakAt = momentOf(device.reservedPeakAt) });
        }
    }
    return out;
}

std::optional<model::DryRunFailure> failureOf(const DryRun& run)
{
    const std::string hint = hintFor(run);
    if (run.failure)
        return model::DryRunFailure{ run.failure->kind, run.failure->what, run.failure->where, hint };
    return hint.empty() ? std::nullopt : std::optional(model::DryRunFailure{ {}, {}, {}, hint });
}

std::optional<std::string> stepSourceOf(const DryRun& run)
{
    switch (run.stepSource()) {
    case dryrun::StepSource::Optimizer:
        return std::string(model::DryRunAnswer::kOptimizerSteps);
    case dryrun::StepSource::Range:
        return std::string(model::DryRunAnswer::kRangeSteps);
    case dryrun::StepSource::None:
        break;
    }
    return std::nullopt;
}

std::optional<std::string> noteOf(const std::string& text)
{
    return text.empty() ? std::nullopt : std::optional(text);
}

void fillFigures(const DryRun& run, const DryRunOptions& options,
    const std::vector<model::OtherCardRun>& others, model::DryRunFigures& out)
{
    out.ranks = ranksOf(run);
    if (run.fits() && run.exitStatus == 0 && !run.processes.empty()) // who failed may need more
        for (const model::CardFit& one : fitsOf(run, others))
            if (one.fit != model::Fit::No)
                out.fitsOn.push_back(
                    { one.card->name, one.marginBytes, std::string(model::fitWord(one.fit)) });
    if (!run.processes.empty() && (!run.fits() || run.exitStatus == 0))
        out.fits = model::fitWord(run.fit());
    out.steps = run.steps();
    out.exitStatus = run.exitStatus;
    out.tracked = trackedOf(run);
    out.failure = failureOf(run);
    if (options.time)
        out.time.value = timeAnswer(stepTimeOf(run, others), run.device);
    if (options.onEachCard)
        out.eachCard.value = others;
}

} // namespace

model::DryRunAnswer dryRunAnswer(const DryRunReport& report)
{
    const DryRun& run = report.run;
    const DryRunOptions& options = report.options;
    model::DryRunAnswer out;
    out.schema = model::DryRunHead::kSchema;
    out.simulated = true;
    out.device = run.device;
    out.capacityBytes = run.capacityBytes;
    out.torch = run.torchVersion;
    fillFigures(run, options, report.eachCard, out);
    out.tryOn = cardsToTry(run);
    if (!run.fits())
        out.neededAtLeast = run.neededAtLeast();
    for (const model::DeviceGroups& each : report.groups) {
        if (each.reservedMost) {
            out.groups = each.groups;
            out.groupsDevice = each.device;
        }
    }
    out.groupsByDevice = report.groups;
    out.allSteps = run.allSteps();
    if (options.steps > 0)
        out.stepsAsked = options.steps;
    out.stepsSource = stepSourceOf(run);
    out.stepsUnseen = run.hasUnseenSteps();
    out.endedBySteps = run.endedBySteps();
    out.stepsNote = noteOf(stepsNote(options, run));
    out.whyNoDeepStep = noteOf(report.whyNoDeepStep);
    out.skipInit = options.skipInit;
    out.weightsSkipped = run.skippedWeights();
    out.outside = model::assumptions();
    out.unservedCalls = run.hasUnservedCalls();
    if (report.changed) {
        model::ChangedDryRun& changed = out.changed.value.emplace();
        fillFigures(*report.changed, options, report.changedOnEachCard, changed);
        changed.changes = options.changes;
        changed.note = noteOf(changesNote(options, *report.changed));
        changed.applied = !changed.note;
    }
    if (options.spread)
        out.spread.value = report.spread;
    return out;
}

} // namespace strata::cli
