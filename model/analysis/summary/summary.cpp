// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary/summary.h"

#include "model/analysis/summary/verdict.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/session/simulation.h"
#include "model/wire/info.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::model {

namespace {

std::optional<Capacity> capacityOf(
    const Recording& recording, int device, const std::vector<OutOfMemory>& outOfMemory)
{
    if (const auto simulation = simulationOf(recording); simulation && simulation->capacityBytes > 0)
        return Capacity{ simulation->capacityBytes, true };
    const auto& facts = recording.facts;
    if (const auto stated
        = facts.find(wire::deviceKey(wire::info::kDevice, device, wire::info::kDeviceCapacity));
        stated != facts.end())
        if (const auto bytes = parseBytes(stated->second); bytes && *bytes > 0)
            return Capacity{ *bytes, true };
    if (outOfMemory.empty())
        return std::nullopt;
    Capacity estimate;
    for (const OutOfMemory& oom : outOfMemory)
        estimate.bytes = std::max(estimate.bytes, wrapAdd(oom.deviceFreeBytes, oom.reservedBytes));
    return estimate;
}

std::int64_t breachesAmong(std::span<const Finding> findings)
{
    return std::ranges::count_if(findings, [](const Finding& finding) { return isBreach(finding.check); });
}

/// What follows from the figures that are there.
void addRest(DeviceSummary& summary, const Recording& recording, std::span<const FinalBlock> finalBlocks,
    std::span<const Finding> findings, const GroupTable& byLine)
{
    summary.breaches = breachesAmong(findings);
    summary.olderEventsGone
        = std::ranges::find(findings, Check::RingWrapped, &Finding::check) != findings.end();
    summary.waste = wasteOf(finalBlocks);
    summary.capacity = capacityOf(recording, summary.device, summary.outOfMemory);
    summary.driver = driverSummaryOf(recording, summary.device);
    summary.needs = needsOf(recording, summary);
    summary.verdict = verdictOn(recording, summary, byLine);
}

DeviceSummary summarizeWith(const DeviceTrace& trace, const GroupTable& byLine, const StateAt& stateAt,
    std::optional<std::int64_t> latestTimeNs)
{
    DeviceSummary summary;
    summary.device = trace.device();
    summary.totals = trace.totals();
    const EventIndex peak = summary.totals.requestedPeakEvent;
    const std::vector<BlockId> active = stateAt.activeBlocks(peak);
    summary.peak = groupBlocks(trace, active, byLine, peak);
    summary.peakUse = peakUseOf(trace, stateAt, active);
    summary.peakTimeNs = timeOf(trace, peak);
    if (trace.eventCount() > 0)
        summary.firstTimeNs = timeOf(trace, 0);
    summary.latestTimeNs = latestTimeNs;
    summary.outOfMemory = outOfMemories(trace, byLine, stateAt);
    addRest(summary, trace.recording(), trace.finalBlocks(), trace.findings(), byLine);
    return summary;
}

} // namespace

DeviceSummary summarize(const DeviceTimeline& timeline, const GroupTable& byLine)
{
    const Clock& clock = timeline.clock();
    return summarizeWith(timeline.trace(), byLine,
        { [&](EventIndex event) { return timeline.live().liveAt(event); },
            [&](EventIndex event) { return timeline.requested().at(event); },
            [&](EventIndex event) { return timeline.reserved().at(event); },
            [&](EventIndex event) { return timeline.pendingFree().at(event); } },
        clock.hasTimes() ? std::optional(clock.endNs()) : std::nullopt);
}

DeviceSummary summarize(const DeviceTrace& trace, const GroupTable& byLine)
{
    return summarizeWith(trace, byLine, walkingStateAt(trace), latestTimeOf(trace));
}

DeviceSummary withRoundedSizes(
    DeviceSummary summary, const DeviceTrace& trace, const RoundedCurves& curves, const GroupTable& byLine)
{
    summary.peakUse.activeAtLeastBytes = curves.active.at(summary.peak.event);
    summary.peakUse.exact = true;
    for (OutOfMemory& oom : summary.outOfMemory) {
        oom.freeInSegmentsBytes = wrapSub(oom.reservedBytes, curves.active.at(oom.event));
        oom.freeInSegmentsExact = true;
    }
    summary.verdict = verdictOn(trace.recording(), summary, byLine);
    return summary;
}

DeviceSummary summarize(const Recording& recording, const DeviceRecording& device,
    const DeviceOutline& outline, const GroupTable& byLine)
{
    const DeviceDigest& digest = outline.digest;
    DeviceSummary summary;
    summary.device = device.device;
    summary.totals = outline.totals;
    summary.peak = groupStacks(digest.peak, byLine, digest.requestedPeakEvent);
    summary.peak.beforeTraceBytes = digest.olderBytes;
    summary.peakUse = digest.peakUse;
    summary.peakTimeNs = digest.peakTimeNs;
    summary.firstTimeNs = digest.firstTimeNs;
    summary.latestTimeNs = digest.latestTimeNs;
    summary.outOfMemory = outOfMemories(digest, byLine);
    addRest(summary, recording, device.finalBlocks, outline.findings, byLine);
    return summary;
}

GroupTable linesOf(const Recording& recording, const DeviceOutline& outline)
{
    std::vector<StackId> stacks;
    const auto add = [&](const std::vector<StackSum>& sums) {
        for (const StackSum& sum : sums)
            stacks.push_back(sum.stack);
    };
    add(outline.digest.peak);
    for (const OutOfMemoryDigest& oom : outline.digest.outOfMemory)
        add(oom.stacks);
    return { recording, stacks };
}

std::optional<DriverSummary> driverSummaryOf(const Recording& recording, int device)
{
    DriverSummary summary;
    const auto raise = [](std::optional<std::int64_t>& peak, std::int64_t bytes) {
        peak = std::max(peak.value_or(bytes), bytes);
    };
    for (const DriverReading& reading : recording.driver) {
        if (reading.device != device)
            continue;
        ++summary.readings;
        summary.usedBytesPeak = std::max(summary.usedBytesPeak, reading.usedBytes);
        if (!reading.processBytes)
            continue;
        raise(summary.processBytesPeak, *reading.processBytes);
        if (reading.reservedBytes)
            raise(summary.outsideBytesPeak, wrapSub(*reading.processBytes, *reading.reservedBytes));
    }
    return summary.readings > 0 ? std::optional(summary) : std::nullopt;
}

DriverCurve driverCurveOf(const Recording& recording, int device)
{
    DriverCurve curve{ {}, true };
    for (const DriverReading& reading : recording.driver)
        curve.ofProcess = curve.ofProcess && (reading.device != device || reading.processBytes);
    for (const DriverReading& reading : recording.driver)
        if (reading.device == device)
            curve.points.push_back(
                { reading.event, curve.ofProcess ? *reading.processBytes : reading.usedBytes });
    std::ranges::stable_sort(curve.points, {}, &DriverPoint::event); // a damaged file may say otherwise
    return curve;
}

WasteAtPeak wasteAtPeak(const PeakUse& use)
{
    const std::int64_t unused = wrapSub(use.reservedBytes, use.requestedBytes);
    const std::int64_t rounding = wrapSub(use.activeAtLeastBytes, use.requestedBytes);
    const std::int64_t free = std::max<std::int64_t>(0, wrapSub(unused, rounding));
    if (use.exact)
        return { { rounding, rounding }, { free, free }, use.pendingBytes };
    return { { rounding, wrapAdd(rounding, free) }, { 0, free }, use.pendingBytes };
}

Waste wasteOf(std::span<const FinalBlock> finalBlocks)
{
    Waste waste;
    for (const FinalBlock& block : finalBlocks) {
        if (block.state == BlockState::Inactive) {
            waste.freeInSegments = wrapAdd(waste.freeInSegments, block.bytes);
            continue;
        }
        waste.rounding = wrapAdd(waste.rounding, wrapSub(block.bytes, block.requestedBytes));
        if (block.state == BlockState::PendingFree)
            waste.pendingFree = wrapAdd(waste.pendingFree, block.requestedBytes);
    }
    return waste;
}

} // namespace strata::model
