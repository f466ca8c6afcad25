// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/about.h"
#include "app/cli/dryrun/report.h"
#include "app/cli/dryrun/step_time.h"
#include "model/cards/fits.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace strata::cli {

namespace {

using dryrun::DevicePeaks;
using dryrun::ProcessPeaks;
using nlohmann::ordered_json;

ordered_json momentJson(const dryrun::PeakMoment& moment)
{
    return { { "event", moment.event }, { "steps_begun", moment.steps } };
}

ordered_json deviceJson(int index, const DevicePeaks& device)
{
    ordered_json out{ { "device", index }, { "requested_bytes_peak", device.requestedPeak },
        { "allocated_bytes_peak", device.allocatedPeak }, { "reserved_bytes_peak", device.reservedPeak },
        { "fits", device.outOfMemories == 0 }, { "oom_count", device.outOfMemories },
        { "first_refused_bytes", nullptr } };
    if (device.outOfMemories > 0)
        out["first_refused_bytes"] = device.firstRefused;
    return out;
}

ordered_json ranksJson(const DryRun& run)
{
    ordered_json out = ordered_json::array();
    for (const ProcessPeaks& process : run.processes) {
        ordered_json devices = ordered_json::array();
        for (int i = 0; i < process.devices; ++i)
            devices.push_back(deviceJson(i, process.device[i]));
        out.push_back(
            { { "rank", std::max(process.rank, 0) }, { "world_size", std::max(process.worldSize, 1) },
                { "process", process.process }, { "devices", std::move(devices) } });
    }
    return out;
}

/// What the tracker counted besides, an entry for each device that was used, in the order of the ranks.
ordered_json trackedJson(const DryRun& run)
{
    ordered_json out = ordered_json::array();
    for (const ProcessPeaks& process : run.processes) {
        for (int i = 0; i < process.devices; ++i) {
            const DevicePeaks& device = process.device[i];
            if (device.events > 0)
                out.push_back({ { "rank", std::max(process.rank, 0) }, { "device", i },
                    { "events", device.events }, { "allocations", device.allocations },
                    { "allocated_is_least", device.allocatedIsLeast != 0 },
                    { "requested_peak_at", momentJson(device.requestedPeakAt) },
                    { "reserved_peak_at", momentJson(device.reservedPeakAt) } });
        }
    }
    return out;
}

ordered_json fitsOnJson(const DryRun& run)
{
    ordered_json out = ordered_json::array();
    if (!run.fits() || run.exitStatus != 0 || run.processes.empty()) // who failed may need more
        return out;
    for (const model::CardFit& one : model::cardFits(run.reservedPeak())) {
        if (one.fit != model::Fit::No)
            out.push_back({ { "name", one.card->name }, { "margin_bytes", one.marginBytes } });
    }
    return out;
}

/// What no figure of the run bounds from above.
void addRefused(const DryRun& run, ordered_json& out)
{
    out["try_on"] = ordered_json::array();
    for (const model::CardFit& one : cardsToTry(run))
        out["try_on"].push_back({ { "name", one.card->name }, { "margin_bytes", one.marginBytes } });
    out["needed_at_least_bytes"] = run.fits() ? ordered_json(nullptr) : ordered_json(run.neededAtLeast());
}

ordered_json groupsJson(const std::vector<PeakGroup>& groups)
{
    ordered_json out = ordered_json::array();
    for (const PeakGroup& group : groups)
        out.push_back({ { "key", group.key }, { "bytes", group.bytes } });
    return out;
}

/// "groups" are those of the GPU that reserved most, which "groups_device" names.
void addGroups(const DryRunReport& report, ordered_json& out)
{
    out["groups"] = ordered_json::array();
    out["groups_device"] = nullptr;
    out["groups_by_device"] = ordered_json::array();
    for (const DeviceGroups& each : report.groups) {
        if (each.reservedMost) {
            out["groups"] = groupsJson(each.groups);
            out["groups_device"] = each.device;
        }
        out["groups_by_device"].push_back(
            { { "device", each.device }, { "groups", groupsJson(each.groups) } });
    }
}

ordered_json failureJson(const DryRun& run)
{
    const std::string hint = hintFor(run);
    if (!run.failure && hint.empty())
        return nullptr;
    ordered_json out{ { "kind", nullptr }, { "what", nullptr }, { "where", nullptr }, { "hint", hint } };
    if (run.failure) {
        out["kind"] = run.failure->kind;
        out["what"] = run.failure->what;
        out["where"] = run.failure->where;
    }
    return out;
}

ordered_json outsideJson()
{
    ordered_json out = ordered_json::array();
    for (const model::Assumption& one : model::assumptions())
        out.push_back({ { "name", one.name }, { "each", one.each }, { "low_bytes", one.lowBytes },
            { "high_bytes", one.highBytes }, { "counted_bytes", one.countedBytes },
            { "source", one.source } });
    return out;
}

ordered_json stepSourceJson(const DryRun& run)
{
    switch (run.stepSource()) {
    case dryrun::StepSource::Optimizer:
        return "optimizer";
    case dryrun::StepSource::Range:
        return "range";
    case dryrun::StepSource::None:
        break;
    }
    return nullptr;
}

ordered_json textOrNull(const std::string& text)
{
    return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

} // namespace

std::string dryRunJson(const DryRunReport& report)
{
    const DryRun& run = report.run;
    ordered_json out{ { "schema", 1 }, { "simulated", true }, { "device", run.device },
        { "capacity_bytes", run.capacityBytes }, { "torch", run.torchVersion } };
    out["ranks"] = ranksJson(run);
    out["fits_on"] = fitsOnJson(run);
    addRefused(run, out);
    addGroups(report, out);
    out["steps"] = run.steps();
    out["steps_of_all"] = run.allSteps();
    out["steps_asked"] = report.options.steps > 0 ? ordered_json(report.options.steps) : nullptr;
    out["steps_source"] = stepSourceJson(run);
    out["steps_unseen"] = run.hasUnseenSteps();
    out["ended_by_steps"] = run.endedBySteps();
    out["steps_note"] = textOrNull(stepsNote(report.options, run));
    out["exit_status"] = run.exitStatus;
    out["tracked"] = trackedJson(run);
    out["skip_init"] = report.options.skipInit;
    out["weights_skipped"] = run.skippedWeights();
    out["outside"] = outsideJson();
    out["unserved_calls"] = run.hasUnservedCalls();
    out["failure"] = failureJson(run);
    if (report.options.time)
        out["time"] = stepTimeJson(stepTimeOf(run), run.device);
    if (report.changed)
        out["changed"] = { { "changes", report.options.changes }, { "ranks", ranksJson(*report.changed) },
            { "tracked", trackedJson(*report.changed) }, { "fits_on", fitsOnJson(*report.changed) },
            { "steps", report.changed->steps() }, { "exit_status", report.changed->exitStatus },
            { "failure", failureJson(*report.changed) },
            { "applied", changesNote(report.options, *report.changed).empty() },
            { "note", textOrNull(changesNote(report.options, *report.changed)) } };
    if (report.changed && report.options.time)
        out["changed"]["time"] = stepTimeJson(stepTimeOf(*report.changed), run.device);
    if (report.options.spread) {
        out["spread"] = ordered_json::array();
        for (const SpreadRun& other : report.spread)
            out["spread"].push_back(
                { { "addresses", other.addresses }, { "reserved_bytes_peak", other.reservedPeak },
                    { "fits", other.fits }, { "exit_status", other.exitStatus } });
    }
    return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

} // namespace strata::cli
