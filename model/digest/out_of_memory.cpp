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

/// Nothing moves memory after `event`: the end state is what there was then.
bool endStateHoldsFrom(const DeviceTrace& trace, EventIndex event)
{
    return !trace.recording().truncation && event + 1 >= quietFrom(trace);
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

PeakUse peakUseOf(const DeviceTrace& trace, std::span<const BlockId> active)
{
    const Totals& totals = trace.totals();
    PeakUse use{ totals.reservedBytesStart, totals.requestedBytesPeak, activeAtLeast(trace, active),
        totals.pendingBytesStart };
    for (EventIndex e = 0; e <= totals.requestedPeakEvent; ++e) {
        use.reservedBytes = wrapAdd(use.reservedBytes, trace.reservedDelta(e));
        use.pendingBytes = wrapAdd(use.pendingBytes, trace.pendingDelta(e));
    }
    use.exact = endStateHoldsFrom(trace, totals.requestedPeakEvent);
    if (use.exact)
        use.activeAtLeastBytes = totals.activeBytesEnd;
    return use;
}

std::vector<OutOfMemoryFigures> outOfMemoryFigures(
    const DeviceTrace& trace, const ActiveBlocks& activeBlocksAt, const TakeActive& take)
{
    const EventColumns& events = trace.events();
    const Totals& totals = trace.totals();
    std::vector<OutOfMemoryFigures> found;
    for (EventIndex e = 0; e < trace.eventCount(); ++e) {
        const auto row = static_cast<std::size_t>(e);
        if (events.action[row] == Action::Oom)
            found.push_back({ .event = e,
                .requestedBytes = events.bytes[row],
                .deviceFreeBytes = static_cast<std::int64_t>(events.address[row]) });
    }
    if (found.empty())
        return found;

    std::int64_t requested = totals.requestedBytesStart;
    std::int64_t reserved = totals.reservedBytesStart;
    std::int64_t pending = totals.pendingBytesStart;
    EventIndex next = 0;
    for (OutOfMemoryFigures& oom : found) {
        for (; next <= oom.event; ++next) {
            requested = wrapAdd(requested, trace.requestedDelta(next));
            reserved = wrapAdd(reserved, trace.reservedDelta(next));
            pending = wrapAdd(pending, trace.pendingDelta(next));
        }
        oom.requestedLiveBytes = requested;
        oom.pendingBytes = pending;
        oom.reservedBytes = reserved;
        oom.freeInSegmentsBytes = std::max<std::int64_t>(0, wrapSub(reserved, requested));
    }

    for (std::size_t i = found.size() - std::min(found.size(), kDetailedOoms); i < found.size(); ++i) {
        const std::vector<BlockId> active = activeBlocksAt(found[i].event);
        found[i].freeInSegmentsBytes = freeInSegmentsAtMost(trace, active, found[i].reservedBytes);
        take(i, active);
    }
    for (OutOfMemoryFigures& oom : std::views::reverse(found)) {
        if (!endStateHoldsFrom(trace, oom.event))
            break;
        oom.freeInSegmentsBytes = wrapSub(totals.reservedBytesEnd, totals.activeBytesEnd);
        oom.freeInSegmentsExact = true;
    }
    return found;
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
