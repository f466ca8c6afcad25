// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/device_trace.h"

#include "model/trace/block_pairing.h"
#include "model/trace/trace_checks.h"

#include <algorithm>
#include <numeric>

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

Result<DeviceTrace> DeviceTrace::build(
    Recording& recording, DeviceRecording& device, const Progress& progress)
{
    const auto cancelled = [] { return fail(Error::Kind::Cancelled, "cancelled"); };
    // Where the file ends inside the trace, the final segments are of a later moment.
    const bool endKnown
        = !recording.truncation || (device.events.size() == 0 && device.base.segments.empty());

    DeviceTrace trace;
    trace.m_recording = &recording;
    trace.m_device = &device;
    FindingList findings;
    BlockPairing pairing(device, trace.m_blocks, findings);
    if (!pairing.pairEvents(progress))
        return cancelled();
    pairing.addOlderBlocks(endKnown);
    trace.m_overwritten = pairing.overwritten();
    trace.m_segments = buildSegmentLives(recording, device, endKnown, findings);
    trace.m_segmentIndex = SegmentIndex(trace.m_segments);
    trace.fillPools();
    trace.fillTotals(pairing, endKnown);

    const CheckInput input{ recording, device, trace.m_blocks, pairing, trace.m_totals, endKnown };
    if (!checkEvents(input, findings, progress))
        return cancelled();
    checkEndState(device, trace.m_totals, findings);
    trace.m_notes = traceNotes(input);
    addNotes({ recording, device, trace.m_totals, trace.m_notes, endKnown }, findings);
    trace.m_findings = findings.take();
    return trace;
}

/// Blocks outside of the final segments take the pool of the segment that held them.
void DeviceTrace::fillPools()
{
    for (std::size_t first = 0; first < m_blocks.size(); first += Column<PoolIndex>::kChunk) {
        const std::span<const PoolIndex> pools = m_blocks.pool.run(first);
        for (std::size_t i = 0; i < pools.size(); ++i) {
            if (pools[i] != kNoIndex)
                continue;
            const BlockId block{ static_cast<std::uint32_t>(first + i) };
            const SegmentLife* const life = segmentAt(m_blocks.address[block.index()], m_blocks.birth(block));
            if (life != nullptr)
                m_blocks.pool[block.index()] = life->pool;
        }
    }
}

void DeviceTrace::fillTotals(const BlockPairing& pairing, bool endKnown)
{
    Totals& t = m_totals;
    t.device = m_device->device;
    t.events = m_device->events.size();
    for (std::size_t a = 0; a < static_cast<std::size_t>(Action::Other); ++a)
        if (pairing.actionCounts()[a] > 0)
            t.actions[std::string(actionName(static_cast<Action>(a)))] = pairing.actionCounts()[a];
    for (const auto& [event, name] : m_device->events.otherAction.items())
        ++t.actions[std::string(m_recording->strings[name])];

    addEndState(*m_device, t);
    t.requestedBytesStart = pairing.requestedAtStart();
    t.pendingBytesStart = pairing.pendingAtStart();
    t.requestedBytesPeak = wrapAdd(t.requestedBytesStart, pairing.requested().rise);
    t.requestedPeakEvent = pairing.requested().peakEvent;
    if (endKnown) {
        t.reservedBytesStart = wrapSub(t.reservedBytesEnd, pairing.reserved().net);
    } else if (m_device->base.segments.empty()) {
        t.reservedBytesStart = wrapSub(0, pairing.reserved().fall);
    } else {
        for (const FinalSegment& segment : m_device->base.segments)
            t.reservedBytesStart = wrapAdd(t.reservedBytesStart, segment.bytes);
    }
    t.reservedBytesPeak = wrapAdd(t.reservedBytesStart, pairing.reserved().rise);
    t.reservedPeakEvent = pairing.reserved().peakEvent;
    t.liveNotInSegments = pairing.liveNotInSegments();
    t.freeWithoutAlloc = pairing.freeWithoutAlloc();
    t.allocOverLive = pairing.allocOverLive();
}

std::vector<BlockId> DeviceTrace::blocksBeforeTrace() const
{
    std::vector<BlockId> blocks(m_blocks.size() - m_blocks.olderFrom);
    for (std::uint32_t i = 0; i < blocks.size(); ++i)
        blocks[i].value = m_blocks.olderFrom + i;
    return blocks;
}

const SegmentLife* DeviceTrace::segmentAt(std::uint64_t address, EventIndex at) const
{
    const std::optional<std::size_t> row = m_segmentIndex.find(m_segments, address, at);
    return row ? &m_segments[*row] : nullptr;
}

BlockId DeviceTrace::overwrittenAt(EventIndex e) const
{
    const auto found = std::lower_bound(m_overwritten.begin(), m_overwritten.end(), e,
        [](const auto& entry, EventIndex event) { return static_cast<EventIndex>(entry.first) < event; });
    return found != m_overwritten.end() && static_cast<EventIndex>(found->first) == e ? found->second
                                                                                      : BlockId{};
}

std::size_t DeviceTrace::bytesResident() const
{
    return m_blocks.bytesResident() + m_segments.capacity() * sizeof(SegmentLife)
        + m_segmentIndex.bytesResident() + m_overwritten.capacity() * sizeof(m_overwritten[0])
        + m_findings.capacity() * sizeof(Finding);
}

} // namespace strata::model
