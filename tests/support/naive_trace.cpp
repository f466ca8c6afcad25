// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/naive_trace.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace strata::test {

using namespace model;

namespace {

void sortBlocks(std::vector<NaiveTrace::Block>& blocks)
{
    std::sort(blocks.begin(), blocks.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.address, a.alloc, a.freeCompleted)
            < std::tuple(b.address, b.alloc, b.freeCompleted);
    });
}

} // namespace

NaiveTrace naiveTrace(const Recording& recording, const DeviceRecording& device)
{
    NaiveTrace naive;
    Totals& t = naive.totals;
    const EventColumns& events = device.events;
    t.device = device.device;
    t.events = events.size();
    t.segments = static_cast<std::int64_t>(device.finalSegments.size());
    t.blocks = static_cast<std::int64_t>(device.finalBlocks.size());

    std::map<std::uint64_t, FinalBlock> final;
    for (const FinalSegment& s : device.finalSegments)
        t.reservedBytesEnd += s.bytes;
    for (const FinalBlock& b : device.finalBlocks) {
        if (b.state == BlockState::Inactive) {
            t.inactiveBytesEnd += b.bytes;
            continue;
        }
        final[b.address] = b;
        t.activeBytesEnd += b.bytes;
        t.allocatedBytesEnd += b.state == BlockState::Allocated ? b.bytes : 0;
        t.requestedBytesEnd += b.requestedBytes;
    }

    std::map<std::uint64_t, NaiveTrace::Block> live;
    std::map<std::uint64_t, EventIndex> requests; // of blocks that are not live in the trace
    std::int64_t netReserved = 0;
    for (EventIndex e = 0; e < events.size(); ++e) {
        const auto row = static_cast<std::size_t>(e);
        const Action action = events.action[row];
        const std::uint64_t address = events.address[row];
        const std::int64_t bytes = events.bytes[row];
        ++t.actions[std::string(
            action == Action::Other ? recording.strings[events.otherAction.at(e)] : actionName(action))];
        if (action == Action::SegmentAlloc || action == Action::SegmentMap)
            netReserved += bytes;
        if (action == Action::SegmentFree || action == Action::SegmentUnmap)
            netReserved -= bytes;
        if (action == Action::Alloc) {
            if (live.contains(address)) {
                ++t.allocOverLive;
                live[address].freeCompleted = e;
                naive.blocks.push_back(live[address]);
            }
            live[address] = { address, bytes, e };
            requests.erase(address);
        }
        if (action == Action::FreeRequested) {
            if (!live.contains(address))
                requests.try_emplace(address, e);
            else if (live[address].freeRequested < 0)
                live[address].freeRequested = e;
        }
        if (action == Action::FreeCompleted) {
            if (live.contains(address)) {
                live[address].freeCompleted = e;
                naive.blocks.push_back(live[address]);
                live.erase(address);
            } else {
                ++t.freeWithoutAlloc;
                const auto request = requests.find(address);
                naive.blocks.push_back(
                    { address, bytes, -1, request == requests.end() ? -1 : request->second, e });
                requests.erase(address);
            }
        }
    }
    for (const auto& [address, block] : live) {
        naive.blocks.push_back(block);
        t.liveNotInSegments += final.contains(address) ? 0 : 1;
    }
    for (const auto& [address, block] : final)
        if (!live.contains(address)) {
            const auto request = requests.find(address);
            naive.blocks.push_back(
                { address, block.requestedBytes, -1, request == requests.end() ? -1 : request->second, -1 });
        }

    for (const NaiveTrace::Block& block : naive.blocks)
        t.requestedBytesStart += block.alloc < 0 ? block.bytes : 0;
    t.reservedBytesStart = t.reservedBytesEnd - netReserved;
    std::vector<std::int64_t> change(static_cast<std::size_t>(events.size()) + 1);
    for (const NaiveTrace::Block& block : naive.blocks) {
        if (block.alloc >= 0)
            change[static_cast<std::size_t>(block.alloc)] += block.bytes;
        if (block.freeCompleted >= 0)
            change[static_cast<std::size_t>(block.freeCompleted)] -= block.bytes;
    }
    std::int64_t requested = t.requestedBytesStart, reserved = t.reservedBytesStart;
    t.requestedBytesPeak = requested;
    t.reservedBytesPeak = reserved;
    naive.requestedAboveReserved = requested > reserved ? 1 : 0;
    for (EventIndex e = 0; e < events.size(); ++e) {
        const auto row = static_cast<std::size_t>(e);
        requested += change[row];
        const Action action = events.action[row];
        if (action == Action::SegmentAlloc || action == Action::SegmentMap)
            reserved += events.bytes[row];
        if (action == Action::SegmentFree || action == Action::SegmentUnmap)
            reserved -= events.bytes[row];
        if (requested > t.requestedBytesPeak) {
            t.requestedBytesPeak = requested;
            t.requestedPeakEvent = e;
        }
        if (reserved > t.reservedBytesPeak) {
            t.reservedBytesPeak = reserved;
            t.reservedPeakEvent = e;
        }
        naive.requestedAboveReserved += requested > reserved ? 1 : 0;
        naive.requested.push_back(requested);
        naive.reserved.push_back(reserved);
    }
    sortBlocks(naive.blocks);
    return naive;
}

std::vector<NaiveTrace::Block> blocksOf(const DeviceTrace& trace)
{
    const auto number = [](EventId e) { return e.valid() ? static_cast<EventIndex>(e.value) : -1; };
    std::vector<NaiveTrace::Block> blocks;
    for (const BlockId b : trace.blocks().all())
        blocks.push_back(
            { trace.blocks().address[b], trace.blocks().requestedBytes[b], number(trace.blocks().allocOf(b)),
                number(trace.blocks().freeRequested[b]), number(trace.blocks().freeCompleted[b]) });
    sortBlocks(blocks);
    return blocks;
}

std::string totalsText(const Totals& t)
{
    std::string text = fmt::format("device {}\nevents {}\n", t.device, t.events);
    for (const auto& [name, count] : t.actions)
        text += fmt::format("action {} {}\n", name, count);
    return text
        + fmt::format("segments {}\nblocks {}\nreserved_bytes_start {}\nreserved_bytes_end {}\n"
                      "reserved_bytes_peak {}\nreserved_peak_event {}\nallocated_bytes_end {}\n"
                      "active_bytes_end {}\ninactive_bytes_end {}\nrequested_bytes_end {}\n"
                      "requested_bytes_start {}\nrequested_bytes_peak {}\nrequested_peak_event {}\n"
                      "live_not_in_segments {}\nfree_without_alloc {}\nalloc_over_live {}\n",
            t.segments, t.blocks, t.reservedBytesStart, t.reservedBytesEnd, t.reservedBytesPeak,
            t.reservedPeakEvent, t.allocatedBytesEnd, t.activeBytesEnd, t.inactiveBytesEnd,
            t.requestedBytesEnd, t.requestedBytesStart, t.requestedBytesPeak, t.requestedPeakEvent,
            t.liveNotInSegments, t.freeWithoutAlloc, t.allocOverLive);
}

} // namespace strata::test
