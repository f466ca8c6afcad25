// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/dryrun/report.h"

#include "model/analysis/groups.h"
#include "model/analysis/position.h"
#include "model/base/units.h"
#include "model/session/session.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace strata::cli {

namespace {

using hook::DevicePeaks;
using hook::ProcessPeaks;
using nlohmann::ordered_json;

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

ordered_json rankJson(const ProcessPeaks& process)
{
    ordered_json devices = ordered_json::array();
    for (int i = 0; i < process.devices; ++i)
        devices.push_back(deviceJson(i, process.device[i]));
    return { { "rank", std::max(process.rank, 0) }, { "world_size", std::max(process.worldSize, 1) },
        { "devices", std::move(devices) } };
}

std::string deviceText(const ProcessPeaks& process, int index, std::int64_t capacity)
{
    const DevicePeaks& device = process.device[index];
    std::string where = process.devices > 1 ? fmt::format("device {}", index) : std::string("device");
    if (process.rank >= 0)
        where = fmt::format("rank {} of {}, {}", process.rank, std::max(process.worldSize, 1), where);
    std::string out = fmt::format("{}\n", where);
    const auto row = [&](std::string_view name, std::int64_t bytes) {
        out += fmt::format(
            "  {:<20}{:>12}  {:>22}\n", name, model::formatBytes(bytes), model::formatExactBytes(bytes));
    };
    row("peak requested", device.requestedPeak);
    row("peak allocated", device.allocatedPeak);
    row("peak reserved", device.reservedPeak);
    row("capacity", capacity);
    if (device.outOfMemories > 0)
        out += fmt::format(
            "  out of memory {} times, first when {} were asked for: the peaks are lower bounds\n",
            device.outOfMemories, model::formatExactBytes(device.firstRefused));
    return out;
}

} // namespace

std::vector<PeakGroup> peakGroups(const DryRun& run)
{
    std::vector<PeakGroup> out;
    if (run.snapshot.empty())
        return out;
    const auto session = model::Session::open(run.snapshot);
    const model::DeviceTrace* trace = session ? (*session)->defaultDevice() : nullptr;
    if (!trace)
        return out;
    const auto peak = model::parsePosition("peak", *trace);
    if (!peak)
        return out;
    const model::GroupTable table(*trace, model::Grouping::Line);
    for (const model::GroupSum& group : model::groupsAt(*trace, table, *peak).groups)
        out.push_back({ table.label(group.group), group.bytes });
    return out;
}

std::string dryRunJson(const DryRun& run, const std::vector<PeakGroup>& groups)
{
    ordered_json out{ { "schema", 1 }, { "simulated", true }, { "device", run.device },
        { "capacity_bytes", run.capacityBytes }, { "torch", run.torchVersion } };
    out["ranks"] = ordered_json::array();
    for (const ProcessPeaks& process : run.processes)
        out["ranks"].push_back(rankJson(process));
    out["fits_on"] = ordered_json::array();
    for (const Card& card : cards()) {
        const std::int64_t margin = card.capacityBytes - run.reservedPeak();
        if (run.fits() && !run.processes.empty() && margin >= 0)
            out["fits_on"].push_back({ { "name", card.name }, { "margin_bytes", margin } });
    }
    out["groups"] = ordered_json::array();
    for (const PeakGroup& group : groups)
        out["groups"].push_back({ { "key", group.key }, { "bytes", group.bytes } });
    out["steps"] = run.steps();
    out["exit_status"] = run.exitStatus;
    return out.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string dryRunText(const DryRun& run, const std::vector<PeakGroup>& groups)
{
    if (run.processes.empty())
        return fmt::format(
            "The command ended with status {} and never used the simulated device.\n", run.exitStatus);
    std::string out = fmt::format("{} {} on a simulated {}\n", run.fits() ? "Fits:" : "Does not fit:",
        run.fits() ? fmt::format(
            "needs {} of {}", model::formatBytes(run.reservedPeak()), model::formatBytes(run.capacityBytes))
                   : fmt::format("{} are not enough", model::formatBytes(run.capacityBytes)),
        run.device);
    if (run.exitStatus != 0)
        out += fmt::format(
            "The command ended with status {}: the figures are of what it did until then.\n", run.exitStatus);
    out += "\n";
    for (const ProcessPeaks& process : run.processes) {
        for (int i = 0; i < process.devices; ++i) {
            if (process.device[i].events > 0)
                out += deviceText(process, i, run.capacityBytes);
        }
    }
    if (!groups.empty())
        out += "\nAt the peak of requested bytes, by line\n";
    for (std::size_t i = 0; i < std::min<std::size_t>(groups.size(), 10); ++i)
        out += fmt::format("  {:>12}  {}\n", model::formatBytes(groups[i].bytes), groups[i].key);
    if (run.fits()) {
        out += "\nFits on\n";
        for (const Card& card : cards()) {
            const std::int64_t margin = card.capacityBytes - run.reservedPeak();
            if (margin >= 0)
                out += fmt::format("  {:<16}{:>12} left\n", card.name, model::formatBytes(margin));
        }
    }
    out += fmt::format(
        "\n{} optimizer steps with torch {}. Simulated: values are zeros, there are no times, and workspaces"
        " of cuDNN and cuSOLVER count as 0. What CUDA itself keeps on a card is not in these figures.\n",
        run.steps(), run.torchVersion.empty() ? "of unknown version" : run.torchVersion);
    return out;
}

} // namespace strata::cli
