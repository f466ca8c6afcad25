// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/summary/summary_report.h"

#include "app/cli/groups_report.h"
#include "app/cli/open.h"
#include "app/cli/report.h"
#include "app/cli/summary/findings.h"
#include "app/cli/summary/summary_advice.h"
#include "app/cli/text.h"
#include "app/cli/training/ledger_report.h"
#include "app/cli/training/step_kind.h"
#include "model/base/shell.h"
#include "model/base/units.h"
#include "model/base/words.h"
#include "model/session/simulation.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::cli {

using model::formatBytes;
using model::formatCount;
using model::formatShare;

namespace {

constexpr std::size_t kPeakLines = 10;
constexpr std::size_t kOomsShown = 10;
constexpr std::size_t kStepsShown = 10;
constexpr std::size_t kUnusedShown = 5;
constexpr std::size_t kSettingShown = 60;

void heading(Output& out, std::string_view text)
{
    out.line("");
    out.line(out.strong(text));
}

void printFile(Output& out, const std::string& file, const model::Recording& recording)
{
    out.line(fmt::format("{}{}", out.strong(printable(file)),
        out.faint(fmt::format(" ({}, {}{})", printable(recording.format),
            formatBytes(static_cast<std::int64_t>(recording.fileBytes)),
            recording.simulated ? ", simulated device" : ""))));
    if (recording.truncation)
        out.line(
            fmt::format("{} {}", out.bad("Not complete."), printable(whatIsMissing(*recording.truncation))));
}

void printTotals(Output& out, const model::SummaryAnswer& answer, const model::SummaryOfDevice& device)
{
    const model::Totals& totals = device.summary.totals;
    const auto atEvent = [](model::EventIndex event) {
        return event < 0 ? std::string("at the start") : fmt::format("at event {}", formatCount(event));
    };
    const std::optional<model::Needs>& needs = device.summary.needs;
    const bool isNeed = needs && !needs->atLeast && needs->bytes == totals.reservedBytesPeak;
    out.line("");
    Table table(
        { { "", Table::Align::Left }, { "start" }, { "peak" }, { "end" }, { "", Table::Align::Left } });
    const auto atEnd = [&](std::int64_t bytes) { return totals.endKnown ? formatBytes(bytes) : "unknown"; };
    if (totals.reservedKnown)
        table.add({ "reserved", formatBytes(totals.reservedBytesStart), formatBytes(totals.reservedBytesPeak),
            atEnd(totals.reservedBytesEnd),
            atEvent(totals.reservedPeakEvent) + (isNeed ? "; what the run needs" : "") });
    else
        table.add({ "reserved", "", "", "", "not told by this file" });
    if (answer.isProfiled(device)) {
        // What stands for requested everywhere else is what the profiler says is allocated.
        table.add({ "allocated", formatBytes(totals.requestedBytesStart),
            formatBytes(totals.requestedBytesPeak), "", atEvent(totals.requestedPeakEvent) });
        table.add({ "requested", "", "", "", "not told by a profiler: rounded sizes stand for them" });
        table.print(out);
        return;
    }
    table.add({ "requested", formatBytes(totals.requestedBytesStart), formatBytes(totals.requestedBytesPeak),
        atEnd(totals.requestedBytesEnd), atEvent(totals.requestedPeakEvent) });
    const model::ReplayReport* const replay
        = device.replay && device.replay->agrees() ? &*device.replay : nullptr;
    const auto rounded = [&](const char* name, std::int64_t least, std::int64_t most, model::EventIndex event,
                             std::int64_t end, const char* without) {
        std::string words = without;
        if (replay != nullptr)
            words = (replay->exact() ? atEvent(event) + "; by replay" : std::string("by replay"))
                + (most > least ? fmt::format(", at most {}", formatBytes(most)) : "");
        table.add({ name, "", replay != nullptr ? formatBytes(least) : "", atEnd(end), words });
    };
    const model::TraceCheck none, &check = replay != nullptr ? replay->check : none;
    rounded("active", check.activeBytesPeak, check.activeBytesPeakMost, check.activePeakEvent,
        totals.activeBytesEnd, "rounded; known at the end alone");
    rounded("allocated", check.allocatedBytesPeak, check.allocatedBytesPeakMost, check.allocatedPeakEvent,
        totals.allocatedBytesEnd, "active and not waiting for a stream");
    table.print(out);
    if (device.replay && !device.replay->exact())
        printParagraph(out, "  The replay is not exact: " + printable(device.replay->reason().text()));
}

void printPeak(Output& out, const model::SummaryOfDevice& device)
{
    const model::LiveGroups& peak = device.peak();
    if (peak.groups.empty())
        return;
    const model::DeviceSummary& summary = device.summary;
    const std::int64_t events = summary.totals.events;
    std::string title = peak.event < 0 && events > 0
        ? "Peak before the first event"
        : fmt::format("Peak at {}", momentName(peak.event, events, device.peakTimeNs(), summary.firstTimeNs));
    if (device.within)
        title += fmt::format(", between events {} and {}", formatCount(device.within->first),
            formatCount(device.within->last));
    heading(out, fmt::format("{}: {} requested, by line of code", title, formatBytes(peak.requestedBytes)));
    const std::size_t rows = std::min(kPeakLines, peak.groups.size());
    groupTable(*device.byLine, peak, rows).print(out);
    if (rows < peak.groups.size())
        out.line(out.faint(fmt::format("  ... {} more lines: strata at FILE {}",
            formatCount(static_cast<std::int64_t>(peak.groups.size() - rows)),
            device.within ? std::to_string(peak.event) : "peak")));
    if (device.within && device.within->reservedBytes)
        out.line(fmt::format("  Reserved there: at most {}", formatBytes(*device.within->reservedBytes)));
}

void printOutOfMemory(Output& out, const model::Recording& recording, const model::SummaryOfDevice& device)
{
    const std::vector<model::OutOfMemory>& list = device.summary.outOfMemory;
    if (list.empty())
        return;
    heading(out, "Out of memory");
    Table table({ { "event" }, { "asked" }, { "driver free" }, { "reserved" }, { "free inside" },
        { "requested" }, { "who asked", Table::Align::Left }, { "biggest line", Table::Align::Left } });
    const std::size_t first = list.size() - std::min(list.size(), kOomsShown);
    for (std::size_t i = first; i < list.size(); ++i) {
        const model::OutOfMemory& oom = list[i];
        const model::FrameId asked = model::userFrame(recording, oom.request);
        table.add({ formatCount(oom.event), formatBytes(oom.requestedBytes), formatBytes(oom.deviceFreeBytes),
            formatBytes(oom.reservedBytes),
            (oom.freeInSegmentsExact ? "" : "<= ") + formatBytes(oom.freeInSegmentsBytes),
            formatBytes(oom.requestedLiveBytes),
            asked.valid() ? printable(model::frameShortLabel(recording, asked)) : "-",
            oom.biggest.empty() ? "" : printable(device.byLine->label(oom.biggest.front().group)) });
    }
    table.print(out);
    if (first > 0)
        out.line(
            out.faint(fmt::format("  ... {} before these", formatCount(static_cast<std::int64_t>(first)))));
    out.line(out.faint("  Why, and what would have served it: strata oom FILE"));
    if (const auto& capacity = device.summary.capacity; capacity && !capacity->exact)
        out.line(fmt::format(
            "  Capacity: at least {} (driver free and reserved together).", formatBytes(capacity->bytes)));
}

void printTrainingSteps(Output& out, const model::SummaryOfDevice& device)
{
    const std::vector<model::StepUse>& steps = device.steps;
    if (steps.empty())
        return;
    heading(out, fmt::format("Steps: {}", formatCount(std::ssize(steps))));
    const bool named
        = std::ranges::any_of(steps, [](const model::StepUse& one) { return one.name.has_value(); });
    Table table(
        { { "step" }, { "kind", Table::Align::Left }, { "begins" }, { "takes" }, { "peak" }, { "at event" },
            { "at its end" }, { "reserved" }, { named ? "the program calls it" : "", Table::Align::Left } });
    // The first ones, where a training grows, and the last.
    const std::size_t all = steps.size();
    const std::size_t firsts = all <= kStepsShown ? all : kStepsShown / 2;
    for (std::size_t i = 0; i < all;
         i = i + 1 == firsts && all > kStepsShown ? all - kStepsShown / 2 : i + 1) {
        const model::StepUse& one = steps[i];
        table.add({ stepNumberText(one.step), stepKindText(one.step),
            one.beginNs ? model::formatDuration(*one.beginNs) : "",
            one.beginNs ? model::formatDuration(one.durationNs) : "", formatBytes(one.requestedBytesPeak),
            formatCount(one.peakEvent), formatBytes(one.requestedBytesEnd),
            one.reservedBytesPeak ? formatBytes(*one.reservedBytesPeak) : std::string("-"),
            one.name ? printable(one.name->name) : "" });
    }
    table.print(out);
    if (all > kStepsShown)
        out.line(out.faint(fmt::format("  ... {} between these: --json has all",
            formatCount(static_cast<std::int64_t>(all - kStepsShown)))));
}

std::string boundText(const model::Bound& bound)
{
    return (bound.exact()            ? ""
                   : bound.least > 0 ? formatBytes(bound.least) + " to "
                                     : "<= ")
        + formatBytes(bound.most);
}

void printWaste(Output& out, const std::string& file, const model::SummaryOfDevice& device)
{
    const model::Waste& end = device.summary.waste;
    const model::PeakUse& use = device.summary.peakUse;
    const model::WasteAtPeak peak = model::wasteAtPeak(use);
    heading(out, "Reserved and not in use");
    const bool known = device.summary.totals.endKnown;
    const std::int64_t reserved = device.summary.totals.reservedBytesEnd;
    Table table(
        { { "at the peak" }, { "share" }, { "at the end" }, { "share" }, { "", Table::Align::Left } });
    const auto add = [&](const model::Bound& atPeak, std::int64_t atEnd, const char* what) {
        table.add(
            { boundText(atPeak), (atPeak.exact() ? "" : "<= ") + formatShare(atPeak.most, use.reservedBytes),
                known ? formatBytes(atEnd) : "unknown", known ? formatShare(atEnd, reserved) : "-", what });
    };
    add(peak.freeInSegments, end.freeInSegments, "free inside segments");
    add(peak.rounding, end.rounding, "lost to rounding");
    add({ peak.pendingFree, peak.pendingFree }, end.pendingFree, "freed, waiting for another stream");
    table.print(out);
    if (device.hasBounds() && !device.isReplayed)
        out.line(out.faint("  A replay may show exact figures: strata summary --replay " + model::shellQuoted(file)));
}

/// A command that is copied does not go over several lines.
void printNeeds(Output& out, const model::Needs& needs)
{
    printSentences(out, needs.line);
    if (!needs.dryRun.empty())
        out.line(printable(needs.dryRunLine().text()));
}

void printEvents(Output& out, const model::SummaryOfDevice& device)
{
    const model::Totals& totals = device.summary.totals;
    heading(out,
        totals.endKnown ? fmt::format("Recorded: {} events, {} segments, {} blocks at the end",
            formatCount(totals.events), formatCount(totals.segments), formatCount(totals.blocks))
                        : fmt::format("Recorded: {} events", formatCount(totals.events)));
    std::string line;
    for (const auto& [action, count] : totals.actions)
        line += fmt::format("{}{} {}", line.empty() ? "" : ", ", printable(action), formatCount(count));
    if (!line.empty())
        out.line("  " + line);
}

void printDriver(Output& out, const model::SummaryOfDevice& device)
{
    const auto& driver = device.summary.driver;
    if (!driver)
        return;
    heading(out, "What the driver said, at most, whenever it was asked");
    Table table({ { "", Table::Align::Left }, { "", Table::Align::Right } });
    table.add({ "all processes", formatBytes(driver->usedBytesPeak) });
    if (driver->processBytesPeak)
        table.add({ "this process", formatBytes(*driver->processBytesPeak) });
    if (driver->outsideBytesPeak)
        table.add({ "of it outside PyTorch", formatBytes(*driver->outsideBytesPeak) });
    table.print(out);
}

void printIntegrity(Output& out, const model::SummaryOfDevice& device)
{
    heading(out, device.integrity.exact() ? "Totals are exact" : "Totals are not exact");
    printFindings(out, device.integrity);
    if (device.integrity.exact() && device.integrity.notes.empty())
        out.line("  Every check passed.");
}

std::string shortened(const std::string& value)
{
    return model::shortenRight(printable(value), kSettingShown);
}

void printSimulation(Output& out, const model::Simulation& simulation)
{
    heading(out, "Simulated device");
    Table table({ { "", Table::Align::Left }, { "", Table::Align::Left } });
    if (!simulation.device.empty())
        table.add({ "device", printable(simulation.device) });
    if (simulation.capacityBytes > 0)
        table.add({ "capacity", formatBytes(simulation.capacityBytes) });
    if (simulation.devices > 0)
        table.add({ "devices", formatCount(simulation.devices) });
    if (!simulation.command.empty())
        table.add({ "command", shortened(simulation.command) });
    for (const auto& [key, value] : simulation.options)
        table.add({ printable(key), shortened(value) });
    table.print(out);
}

void printRest(Output& out, const model::Recording& recording)
{
    if (const auto& host = recording.host; host && (host->segments > 0 || host->reservedBytesPeak))
        out.line(fmt::format("\nPinned host memory: {} reserved, {} allocated{}",
            formatBytes(host->reservedBytes), formatBytes(host->allocatedBytes),
            host->reservedBytesPeak
                ? fmt::format(", {} reserved at most", formatBytes(*host->reservedBytesPeak))
                : ""));
    const std::optional<model::Simulation> simulation = model::simulationOf(recording);
    if (recording.settings.size() > (simulation ? 1u : 0u)) {
        heading(out, "Allocator settings");
        Table table({ { "", Table::Align::Left }, { "", Table::Align::Left } });
        for (const model::Setting& setting : recording.settings)
            if (setting.key != model::Simulation::kSetting)
                table.add({ printable(setting.key), shortened(setting.json) });
        table.print(out);
    }
    if (simulation)
        printSimulation(out, *simulation);
}

} // namespace

void printSummary(Output& out, const model::SummaryAnswer& answer)
{
    const model::Recording& recording = *answer.recording;
    printFile(out, answer.file, recording);
    for (const model::SummaryOfDevice& device : answer.devices) {
        out.line("");
        if (answer.devices.size() > 1)
            out.line(out.strong(deviceName(device.summary.device)));
        printSentences(out, device.summary.verdict);
        if (device.summary.needs)
            printNeeds(out, *device.summary.needs);
        if (!recording.refusal) {
            printTotals(out, answer, device);
            printPeak(out, device);
            printOutOfMemory(out, recording, device);
            printUnused(out, device.unused, kUnusedShown);
            printAdvice(out, answer.file, device);
            printTrainingSteps(out, device);
            if (answer.isProfiled(device)) {
                heading(out, "Reserved and not in use");
                out.line("  A profiler tells of no segments, so not of what is free in them: a memory "
                         "snapshot does.");
            } else {
                printWaste(out, answer.file, device);
            }
        }
        printDriver(out, device);
        printEvents(out, device);
        printIntegrity(out, device);
    }
    printRest(out, recording);
}

} // namespace strata::cli
