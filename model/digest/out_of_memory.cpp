// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/digest/out_of_memory.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <ranges>

namespace strata::model {

namespace {

constexpr std::int64_t kMinBlock = 512; // kMinBlockSize of the allocator

std::int64_t roundedUp(std::int64_t bytes)
{
    return std::max(kMinBlock, wrapAdd(bytes, kMinBlock - 1) / kMinBlock * kMinBlock);
}

/// Index of the first event after which nothing moves memory: the end state holds from the one before it on.
EventIndex quietFrom(const DeviceTrace& trace)
{
    EventIndex e = trace.eventCount();
    while (e > 0) {
        switch (trace.events().action[static_cast<std::size_t>(e - 1)]) {
        case Action::Snapshot:
        case Action::Oom:
        case Action::UserDefined:
        case Action::Annotate:
            --e;
            continue;
        default:
            return e;
        }
    }
    return e;
}

/// The first event after which nothing moves memory: from it on the end state is what there is. Past the end
/// where the end state is not known.
EventIndex endStateFrom(const DeviceTrace& trace)
{
    return trace.endKnown() ? quietFrom(trace) - 1 : trace.eventCount();
}

} // namespace

std::int64_t activeAtLeast(const DeviceTrace& trace, std::span<const BlockId> active)
{
    const BlockColumns& blocks = trace.blocks();
    std::int64_t least = 0;
    for (const BlockId block : active) {
        const std::int64_t requested = blocks.requestedBytes[block];
        const std::uint32_t rounding = blocks.rounding[block];
        least = wrapAdd(least,
            rounding != BlockColumns::kRoundingUnknown ? wrapAdd(requested, rounding) : roundedUp(requested));
    }
    return least;
}

std::int64_t freeInSegmentsAtMost(
    const DeviceTrace& trace, std::span<const BlockId> active, std::int64_t reservedBytes)
{
    return std::max<std::int64_t>(0, wrapSub(reservedBytes, activeAtLeast(trace, active)));
}

PeakUse peakUseOf(const DeviceTrace& trace, StateAt stateAt, std::span<const BlockId> active)
{
    const Totals& totals = trace.totals();
    const EventIndex peak = totals.requestedPeakEvent;
    PeakUse use{ stateAt.reservedBytes(peak), totals.requestedBytesPeak, activeAtLeast(trace, active),
        stateAt.pendingBytes(peak) };
    use.exact = peak >= endStateFrom(trace);
    if (use.exact)
        use.activeAtLeastBytes = totals.activeBytesEnd;
    return use;
}

std::vector<OutOfMemoryFigures> outOfMemoryFigures(
    const DeviceTrace& trace, const StateAt& stateAt, const TakeActive& take)
{
    const EventColumns& events = trace.events();
    const Totals& totals = trace.totals();
    std::vector<OutOfMemoryFigures> found;
    for (const std::uint32_t event : trace.outOfMemories()) {
        OutOfMemoryFigures oom{ .event = event,
            .requestedBytes = events.bytes[event],
            .deviceFreeBytes = static_cast<std::int64_t>(events.address[event]) };
        oom.requestedLiveBytes = stateAt.requestedBytes(event);
        oom.reservedBytes = stateAt.reservedBytes(event);
        oom.pendingBytes = stateAt.pendingBytes(event);
        oom.freeInSegmentsBytes
            = std::max<std::int64_t>(0, wrapSub(oom.reservedBytes, oom.requestedLiveBytes));
        found.push_back(oom);
    }
    if (found.empty())
        return found;

    for (std::size_t i = found.size() - std::min(found.size(), kDetailedOoms); i < found.size(); ++i) {
        const std::vector<BlockId> active = stateAt.activeBlocks(found[i].event);
        found[i].freeInSegmentsBytes = freeInSegmentsAtMost(trace, active, found[i].reservedBytes);
        take(i, active);
    }
    const EventIndex atEnd = endStateFrom(trace);
    for (OutOfMemoryFigures& oom : std::views::reverse(found)) {
        if (oom.event < atEnd)
            break;
        oom.freeInSegmentsBytes = wrapSub(totals.reservedBytesEnd, totals.activeBytesEnd);
        oom.freeInSegmentsExact = true;
    }
    return found;
}

StateAt walkingStateAt(const DeviceTrace& trace)
{
    const auto curve = [&trace](std::int64_t start, auto delta) {
        return [&trace, delta, value = start, next = EventIndex{ 0 }](EventIndex event) mutable {
            for (; next <= event; ++next)
                value = wrapAdd(value, (trace.*delta)(next));
            return value;
        };
    };
    const Totals& totals = trace.totals();
    return { [&trace](EventIndex event) { return activeBlocks(trace, event); },
        curve(totals.requestedBytesStart, &DeviceTrace::requestedDelta),
        curve(totals.reservedBytesStart, &DeviceTrace::reservedDelta),
        curve(totals.pendingBytesStart, &DeviceTrace::pendingDelta) };
}

std::vector<BlockId> activeBlocks(const DeviceTrace& trace, EventIndex event)
{
    const BlockColumns& blocks = trace.blocks();
    std::vector<BlockId> active;
    for (const BlockId block : blocks.all())
        if (blocks.liveAt(block, event))
            active.push_back(block);
    return active;
}

} // namespace strata::model
