// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/device_trace.h"

#include "model/trace/device_growth.h"

#include <algorithm>
#include <ranges>

namespace strata::model {

void addEndState(const DeviceRecording& device, Totals& totals)
{
    totals.segments = static_cast<std::int64_t>(device.finalSegments.size());
    totals.blocks = static_cast<std::int64_t>(device.finalBlocks.size());
    for (const FinalSegment& segment : device.finalSegments)
        totals.reservedBytesEnd = wrapAdd(totals.reservedBytesEnd, segment.bytes);
    for (const FinalBlock& block : device.finalBlocks) {
        std::int64_t& sum
            = block.state == BlockState::Inactive ? totals.inactiveBytesEnd : totals.activeBytesEnd;
        sum = wrapAdd(sum, block.bytes);
        if (block.state == BlockState::Allocated)
            totals.allocatedBytesEnd = wrapAdd(totals.allocatedBytesEnd, block.bytes);
        if (block.state != BlockState::Inactive)
            totals.requestedBytesEnd = wrapAdd(totals.requestedBytesEnd, block.requestedBytes);
    }
}

namespace {

/// The trace leaves memory that the file does not have, though it has those of other devices: snapshots of
/// several ranks were merged, and only the traces of all are there.
bool lacksItsSegments(const Recording& recording, const DeviceRecording& device)
{
    if (!device.finalSegments.empty() || device.events.size() == 0
        || std::ranges::all_of(
            recording.devices, [](const DeviceRecording& each) { return each.finalSegments.empty(); }))
        return false;
    std::int64_t net = 0, live = 0; // of segments, and of blocks
    for (std::size_t e = 0; e < device.events.action.size(); ++e) {
        const Action action = device.events.action[e];
        if (action == Action::SegmentAlloc || action == Action::SegmentMap)
            net = wrapAdd(net, device.events.bytes[e]);
        else if (action == Action::SegmentFree || action == Action::SegmentUnmap)
            net = wrapSub(net, device.events.bytes[e]);
        else if (action == Action::Alloc)
            live = wrapAdd(live, device.events.bytes[e]);
        else if (action == Action::FreeCompleted)
            live = wrapSub(live, device.events.bytes[e]);
    }
    return net > 0 || live > 0;
}

} // namespace

bool isEndKnown(const Recording& recording, const DeviceRecording& device)
{
    if (device.profiled || lacksItsSegments(recording, device))
        return false;
    // Where the file ends inside the trace, the final segments are of another moment.
    return !recording.truncation || (device.events.size() == 0 && device.base.segments.empty());
}

Result<DeviceTrace> DeviceTrace::build(
    Recording& recording, DeviceRecording& device, const Progress& progress)
{
    const bool endKnown = isEndKnown(recording, device);
    DeviceGrowth growth;
    if (growth.append(recording, device, true, true, progress))
        if (std::optional<DeviceTrace> trace = growth.finish(recording, device, endKnown, progress))
            return std::move(*trace);
    return fail(Error::Kind::Cancelled, say("cancelled"));
}

bool DeviceTrace::continues(const DeviceTrace& earlier) const
{
    return m_history == earlier.m_history && eventCount() >= earlier.eventCount();
}

bool DeviceTrace::keepsRowsOf(const DeviceTrace& earlier) const
{
    return m_rows == earlier.m_rows && continues(earlier);
}

BlockId DeviceTrace::sameBlock(const DeviceTrace& other, BlockId block) const
{
    if (!other.m_blocks.contains(block))
        return {};
    const auto isSame = [&](BlockId here) {
        return m_blocks.contains(here) && m_blocks.address[here] == other.m_blocks.address[block];
    };
    if (!block.isOlder() || isSame(block))
        return isSame(block) ? block : BlockId{};
    // A state that came later has told of others.
    for (std::size_t row = 0; row < m_blocks.olderCount(); ++row)
        if (isSame(BlockId::older(row)))
            return BlockId::older(row);
    return {};
}

BlockId DeviceTrace::overwrittenAt(EventIndex e) const
{
    const auto rows = std::views::iota(std::size_t{ 0 }, m_overwritten.size());
    const auto row = std::ranges::lower_bound(
        rows, e, {}, [this](std::size_t i) { return static_cast<EventIndex>(m_overwritten[i].first); });
    return row != rows.end() && static_cast<EventIndex>(m_overwritten[*row].first) == e
        ? m_overwritten[*row].second
        : BlockId{};
}

std::size_t DeviceTrace::bytesResident() const
{
    return m_blocks.bytesResident() + m_segments->bytesResident() + m_overwritten.bytesResident()
        + m_findings.capacity() * sizeof(Finding);
}

} // namespace strata::model
