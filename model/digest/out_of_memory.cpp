// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/digest/out_of_memory.h"

#include "model/base/wrap.h"

#include <algorithm>

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

} // namespace

std::int64_t freeInSegmentsAtMost(
    const DeviceTrace& trace, std::span<const BlockId> active, std::int64_t reservedBytes)
{
    const BlockColumns& blocks = trace.blocks();
    std::int64_t least = 0;
    for (const BlockId block : active) {
        const std::int64_t requested = blocks.requestedBytes[block];
        const std::uint32_t rounding = blocks.rounding[block];
        least = wrapAdd(least,
            rounding != BlockColumns::kRoundingUnknown ? wrapAdd(requested, rounding) : roundedUp(requested));
    }
    return std::max<std::int64_t>(0, wrapSub(reservedBytes, least));
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
    EventIndex next = 0;
    for (OutOfMemoryFigures& oom : found) {
        for (; next <= oom.event; ++next) {
            requested = wrapAdd(requested, trace.requestedDelta(next));
            reserved = wrapAdd(reserved, trace.reservedDelta(next));
        }
        oom.requestedLiveBytes = requested;
        oom.reservedBytes = reserved;
        oom.freeInSegmentsBytes = std::max<std::int64_t>(0, wrapSub(reserved, requested));
    }

    for (std::size_t i = found.size() - std::min(found.size(), kDetailedOoms); i < found.size(); ++i) {
        const std::vector<BlockId> active = activeBlocksAt(found[i].event);
        found[i].freeInSegmentsBytes = freeInSegmentsAtMost(trace, active, found[i].reservedBytes);
        take(i, active);
    }
    const EventIndex quiet = trace.recording().truncation ? trace.eventCount() + 1 : quietFrom(trace);
    for (OutOfMemoryFigures& oom : found) {
        if (oom.event + 1 < quiet)
            continue;
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
