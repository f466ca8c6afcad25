// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/out_of_memory.h"

#include "model/base/wrap.h"

#include <algorithm>

namespace strata::model {

namespace {

constexpr std::int64_t kMinBlock = 512; // kMinBlockSize of the allocator
constexpr std::size_t kBiggest = 3;

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

std::vector<GroupSum> biggestOf(LiveGroups live)
{
    live.groups.resize(std::min(live.groups.size(), kBiggest));
    return std::move(live.groups);
}

} // namespace

std::int64_t freeInSegmentsAtMost(
    const DeviceTrace& trace, std::span<const BlockId> active, std::int64_t reservedBytes)
{
    const BlockColumns& blocks = trace.blocks();
    std::int64_t least = 0;
    for (const BlockId block : active) {
        const std::int64_t requested = blocks.requestedBytes[block.index()];
        const std::uint32_t rounding = blocks.rounding[block.index()];
        least = wrapAdd(least,
            rounding != BlockColumns::kRoundingUnknown ? wrapAdd(requested, rounding) : roundedUp(requested));
    }
    return std::max<std::int64_t>(0, wrapSub(reservedBytes, least));
}

std::vector<OutOfMemory> outOfMemories(
    const DeviceTrace& trace, const GroupTable& byLine, const ActiveBlocks& activeBlocksAt)
{
    const EventColumns& events = trace.events();
    const Totals& totals = trace.totals();
    std::vector<OutOfMemory> found;
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
    for (OutOfMemory& oom : found) {
        for (; next <= oom.event; ++next) {
            requested = wrapAdd(requested, trace.requestedDelta(next));
            reserved = wrapAdd(reserved, trace.reservedDelta(next));
        }
        oom.requestedLiveBytes = requested;
        oom.reservedBytes = reserved;
        oom.freeInSegmentsBytes = std::max<std::int64_t>(0, wrapSub(reserved, requested));
    }

    const EventIndex quiet = trace.recording().truncation ? trace.eventCount() + 1 : quietFrom(trace);
    const std::size_t detailed = std::min(found.size(), kDetailedOoms);
    for (auto oom = found.end() - static_cast<std::ptrdiff_t>(detailed); oom != found.end(); ++oom) {
        const std::vector<BlockId> active = activeBlocksAt(oom->event);
        oom->freeInSegmentsBytes = freeInSegmentsAtMost(trace, active, oom->reservedBytes);
        oom->biggest = biggestOf(groupBlocks(trace, active, byLine, oom->event));
    }
    for (OutOfMemory& oom : found) {
        if (oom.event + 1 < quiet)
            continue;
        oom.freeInSegmentsBytes = wrapSub(totals.reservedBytesEnd, totals.activeBytesEnd);
        oom.freeInSegmentsExact = true;
    }
    return found;
}

std::vector<OutOfMemory> outOfMemories(const DeviceDigest& digest, const GroupTable& byLine)
{
    std::vector<OutOfMemory> found;
    for (const OutOfMemoryDigest& oom : digest.outOfMemory)
        found.push_back({ oom.event, oom.requestedBytes, oom.deviceFreeBytes, oom.reservedBytes,
            oom.freeInSegmentsBytes, oom.freeInSegmentsExact, oom.requestedLiveBytes,
            biggestOf(groupStacks(oom.stacks, byLine, oom.event)) });
    return found;
}

} // namespace strata::model
