// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/summary.h"

#include "model/analysis/verdict.h"
#include "model/base/units.h"
#include "model/base/wrap.h"
#include "model/session/simulation.h"

#include <algorithm>
#include <fmt/format.h>

namespace strata::model {

namespace {

std::optional<Capacity> capacityOf(const DeviceTrace& trace, const std::vector<OutOfMemory>& outOfMemory)
{
    if (const auto simulation = simulationOf(trace.recording()); simulation && simulation->capacityBytes > 0)
        return Capacity{ simulation->capacityBytes, true };
    const auto& facts = trace.recording().facts;
    if (const auto stated = facts.find(fmt::format("device.{}.capacity", trace.device()));
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

DeviceSummary summarizeWith(
    const DeviceTrace& trace, const GroupTable& byLine, const ActiveBlocks& activeBlocksAt)
{
    DeviceSummary summary;
    summary.device = trace.device();
    summary.totals = trace.totals();
    summary.waste = wasteOf(trace);
    const EventIndex peak = summary.totals.requestedPeakEvent;
    summary.peak = groupBlocks(trace, activeBlocksAt(peak), byLine, peak);
    summary.peakTimeNs = timeOf(trace, peak);
    summary.outOfMemory = outOfMemories(trace, byLine, activeBlocksAt);
    summary.capacity = capacityOf(trace, summary.outOfMemory);
    summary.verdict = verdictOn(trace, summary, byLine);
    return summary;
}

} // namespace

DeviceSummary summarize(const Session&, const DeviceTimeline& timeline, const GroupTable& byLine)
{
    return summarizeWith(
        timeline.trace(), byLine, [&](EventIndex event) { return timeline.live().liveAt(event); });
}

DeviceSummary summarize(const DeviceTrace& trace, const GroupTable& byLine)
{
    return summarizeWith(trace, byLine, [&](EventIndex event) { return activeBlocks(trace, event); });
}

Waste wasteOf(const DeviceTrace& trace)
{
    Waste waste;
    for (const FinalBlock& block : trace.finalBlocks()) {
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

std::optional<std::int64_t> timeOf(const DeviceTrace& trace, EventIndex event)
{
    const EventColumns& events = trace.events();
    if (!events.hasTimes() || event < 0)
        return std::nullopt;
    return events.timeNs[static_cast<std::size_t>(event)];
}

} // namespace strata::model
