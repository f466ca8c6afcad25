// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/digest/digest_rows.h"

#include <algorithm>

namespace strata::model {

namespace {

template <class Id> std::uint32_t number(Id id)
{
    return id.valid() ? static_cast<std::uint32_t>(id.value) : wire::kNone;
}

std::vector<wire::StackSum> toWire(const std::vector<StackSum>& sums)
{
    std::vector<wire::StackSum> rows;
    for (const StackSum& sum : sums)
        rows.push_back({ number(sum.stack), sum.bytes, sum.blocks });
    return rows;
}

/// False if a number names no stack.
bool fromWire(
    const std::vector<wire::StackSum>& rows, std::span<const StackId> stacks, std::vector<StackSum>& sums)
{
    sums.reserve(rows.size());
    for (const wire::StackSum& row : rows) {
        if (row.stack != wire::kNone && row.stack >= stacks.size())
            return false;
        sums.push_back({ row.stack == wire::kNone ? StackId{} : stacks[row.stack], row.bytes, row.blocks });
    }
    return true;
}

/// What has one name and one meaning on both sides.
template <class From, class To> void copySame(const From& from, To& to)
{
    to.device = from.device;
    std::ranges::copy(from.actions, to.actions.begin());
    to.requestedStart = from.requestedStart;
    to.requestedPeak = from.requestedPeak;
    to.requestedPeakEvent = from.requestedPeakEvent;
    to.pendingStart = from.pendingStart;
    to.reservedStart = from.reservedStart;
    to.reservedPeak = from.reservedPeak;
    to.reservedPeakEvent = from.reservedPeakEvent;
    to.olderBytes = from.olderBytes;
}

} // namespace

wire::Digest toWire(const DeviceDigest& from)
{
    wire::Digest digest;
    digest.events = static_cast<std::uint64_t>(from.events);
    copySame(from, digest);
    for (const auto& [name, count] : from.otherActions)
        digest.otherActions.emplace_back(number(name), static_cast<std::uint64_t>(count));
    digest.hasTimes = from.firstTimeNs.has_value();
    digest.firstTimeNs = from.firstTimeNs.value_or(0);
    digest.peakTimeNs = from.peakTimeNs.value_or(0);
    digest.latestTimeNs = from.latestTimeNs.value_or(0);
    digest.backwards = from.notes.backwards;
    digest.firstBackwards = from.notes.firstBackwards;
    digest.olderFrees = from.notes.olderFrees;
    digest.olderFreedBytes = from.notes.olderFreedBytes;
    digest.firstOlderFree = from.notes.firstOlderFree;
    digest.peak = toWire(from.peak);
    digest.peakReserved = from.peakUse.reservedBytes;
    digest.peakLeast = from.peakUse.activeAtLeastBytes;
    digest.peakPending = from.peakUse.pendingBytes;
    digest.peakIsExact = from.peakUse.exact;
    for (const auto& [f, request, stacks] : from.outOfMemory)
        digest.outOfMemory.push_back({ f.event, f.requestedBytes, f.deviceFreeBytes, f.reservedBytes,
            f.requestedLiveBytes, f.freeInSegmentsBytes, f.freeInSegmentsExact, f.pendingBytes,
            number(request), toWire(stacks) });
    return digest;
}

std::optional<DeviceDigest> fromWire(
    const wire::Digest& from, std::span<const StringId> strings, std::span<const StackId> stacks)
{
    DeviceDigest digest;
    digest.events = static_cast<std::int64_t>(from.events);
    copySame(from, digest);
    for (const auto& [name, count] : from.otherActions) {
        if (name >= strings.size())
            return std::nullopt;
        digest.otherActions.emplace_back(strings[name], static_cast<std::int64_t>(count));
    }
    if (from.hasTimes && from.events > 0)
        digest.firstTimeNs = from.firstTimeNs, digest.latestTimeNs = from.latestTimeNs;
    if (from.hasTimes && from.requestedPeakEvent >= 0)
        digest.peakTimeNs = from.peakTimeNs;
    digest.notes
        = { from.olderFrees, from.olderFreedBytes, from.firstOlderFree, from.backwards, from.firstBackwards };
    digest.peakUse = { from.peakReserved, from.requestedPeak, from.peakLeast, from.peakPending,
        from.peakIsExact };
    if (!fromWire(from.peak, stacks, digest.peak))
        return std::nullopt;
    for (const wire::Digest::OutOfMemory& oom : from.outOfMemory) {
        OutOfMemoryDigest& to = digest.outOfMemory.emplace_back();
        to.figures = { oom.event, oom.asked, oom.deviceFree, oom.reserved, oom.freeInSegments,
            oom.freeIsExact, oom.requested, oom.pending };
        const bool isKnown = oom.stack == wire::kNone || oom.stack < stacks.size();
        if (!isKnown || !fromWire(oom.stacks, stacks, to.stacks))
            return std::nullopt;
        to.request = oom.stack == wire::kNone ? StackId{} : stacks[oom.stack];
    }
    return digest;
}

} // namespace strata::model
