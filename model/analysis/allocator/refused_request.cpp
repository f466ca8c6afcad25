// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/refused_request.h"

#include "model/base/wrap.h"
#include "model/trace/program/allocator_calls.h"

#include <algorithm>

namespace strata::model {

namespace {

/// What a memory fraction allows, where one is recorded: the last call before the event, else the settings.
std::optional<std::int64_t> allowedBytesAt(
    const DeviceTrace& trace, const ReplayReport& report, EventIndex event, std::int64_t deviceBytes)
{
    std::optional<double> fraction = report.settings.memoryFraction;
    for (const AllocatorCall& call : AllocatorCalls::of(trace.recording(), trace.device()))
        if (call.kind == AllocatorCall::Kind::MemoryFraction && call.event <= event)
            fraction = call.fraction;
    if (!fraction || *fraction >= 1)
        return std::nullopt;
    return static_cast<std::int64_t>(*fraction * static_cast<double>(deviceBytes));
}

} // namespace

std::int64_t RefusedRequest::availableBytes() const
{
    return wrapAdd(reservedBytes, deviceFreeBytes);
}

std::int64_t RefusedRequest::roomBytes() const
{
    return std::min(availableBytes(), wrapAdd(reservedBytes, leftBytes));
}

RefusedRequest refusedRequestAt(
    const DeviceTrace& trace, const ReplayReport& report, EventIndex event, std::int64_t reservedBytes)
{
    const auto row = static_cast<std::size_t>(event);
    RefusedRequest refused{ .event = event,
        .reservedBytes = reservedBytes,
        .deviceFreeBytes = static_cast<std::int64_t>(trace.events().address[row]),
        .capacityBytes = report.capacityBytes,
        .allowedBytes = {} };
    if (report.capacitySource == ReplayReport::CapacitySource::OutOfMemory)
        refused.capacityBytes = refused.availableBytes(); // at this one
    refused.leftBytes = refused.deviceFreeBytes;
    if (refused.capacityBytes)
        refused.allowedBytes = allowedBytesAt(trace, report, event, *refused.capacityBytes);
    if (refused.allowedBytes)
        refused.leftBytes = std::max<std::int64_t>(
            0, std::min(wrapSub(*refused.allowedBytes, reservedBytes), refused.leftBytes));
    // The driver never refuses what it has room for.
    const std::int64_t segment = report.settings.segmentBytes(trace.events().bytes[row]);
    refused.isLimited
        = refused.deviceFreeBytes >= segment && (!refused.allowedBytes || refused.leftBytes < segment);
    if (refused.isLimited && !refused.allowedBytes) // by what is not recorded
        refused.leftBytes = 0;
    return refused;
}

std::optional<RefusedRequest> lastRefusedRequest(const DeviceTrace& trace, const ReplayReport& report)
{
    if (trace.outOfMemories().empty())
        return std::nullopt;
    const EventIndex last = trace.outOfMemories().back();
    std::int64_t reserved = trace.totals().reservedBytesStart;
    for (EventIndex event = 0; event <= last; ++event)
        reserved = wrapAdd(reserved, trace.reservedDelta(event));
    return refusedRequestAt(trace, report, last, reserved);
}

} // namespace strata::model
