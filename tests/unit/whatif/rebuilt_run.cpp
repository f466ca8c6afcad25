// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/unit/whatif/rebuilt_run.h"

#include "model/replay/allocator_actions.h"
#include "model/replay/event_pools.h"
#include "model/trace/program/allocator_calls.h"

#include <algorithm>
#include <map>
#include <utility>

namespace strata::test {

using namespace model;

namespace {

constexpr std::uint64_t kFirstAddress = std::uint64_t{ 1 } << 56; // above those of any device
constexpr std::uint64_t kApart = 512;

bool isOfBlock(Action action)
{
    return action == Action::Alloc || action == Action::FreeRequested || action == Action::FreeCompleted;
}

/// The rows of Recording::pools by their owners: one of each.
std::map<PoolOwner, PoolIndex> poolsOf(const Recording& recording)
{
    std::map<PoolOwner, PoolIndex> rows{ { PoolOwner{}, kNoIndex } };
    for (std::size_t row = 0; row < recording.pools.size(); ++row)
        rows.emplace(poolOwnerOf(recording, static_cast<PoolIndex>(row)), static_cast<PoolIndex>(row));
    return rows;
}

void setSizes(EventColumns& events, const ProgramRun& run)
{
    for (std::size_t row = 0; row < run.asks.size(); ++row) {
        const std::uint32_t block = run.asks[row].block;
        if (block != ProgramRun::Ask::kNoBlock && events.bytes[row] != run.blocks[block].bytes)
            events.bytes.edit(row) = run.blocks[block].bytes;
    }
    for (const EventIndex event : run.unasked)
        events.bytes.edit(static_cast<std::size_t>(event)) = 0;
}

/// Rows of Recording::streams by the numbers of streams that a run adds.
using NewStreams = std::map<std::uint16_t, StreamIndex>;

NewStreams addNewStreams(const ProgramRun& run, Recording& recording)
{
    NewStreams rows;
    for (const ProgramRun::Block& block : run.blocks)
        if (block.newStream != 0)
            rows.emplace(block.newStream, StreamIndex{ 0 });
    std::int64_t stream = std::int64_t{ 1 } << 40; // handles are smaller, or addresses of the host
    for (auto& [number, row] : rows) {
        while (std::ranges::find(recording.streams, stream) != recording.streams.end())
            ++stream;
        row = recording.internStream(stream);
    }
    return rows;
}

/// The columns that a replay asks for, in the order of the run.
EventColumns reorderedEvents(const DeviceTrace& trace, const ProgramRun& run, const NewStreams& newStreams,
    std::vector<EventIndex>& recordedRows)
{
    const EventColumns& from = trace.events();
    const EventPools pools(trace);
    const std::map<PoolOwner, PoolIndex> rowOf = poolsOf(trace.recording());
    EventColumns to;
    for (const ProgramRun::Ask& ask : run.asks) {
        if (isOfSegment(ask.action))
            continue;
        const auto like = static_cast<std::size_t>(ask.like);
        const bool ours = ask.block != ProgramRun::Ask::kNoBlock;
        const std::size_t place = ours ? static_cast<std::size_t>(run.blocks[ask.block].like) : like;
        to.action.push_back(ask.action);
        to.address.push_back(ours ? kFirstAddress + ask.block * kApart : from.address[like]);
        const bool isAsked = !std::ranges::binary_search(run.unasked, ask.like);
        to.bytes.push_back(ours ? run.blocks[ask.block].bytes : isAsked ? from.bytes[like] : 0);
        if (from.hasTimes())
            to.timeNs.push_back(from.timeNs[like]);
        to.stack.push_back(from.stack[like]);
        to.block.push_back({});
        const std::uint16_t newStream = ours ? run.blocks[ask.block].newStream : 0;
        to.stream.push_back(newStream != 0 ? newStreams.at(newStream) : from.stream[place]);
        to.pool.push_back(
            isOfBlock(ask.action) || ask.action == Action::Oom ? rowOf.at(pools.at(place)) : kNoIndex);
        to.tell(from.phaseOf(like), from.threadOf(like), from.moduleOf(like));
        recordedRows.push_back(ask.like);
    }
    return to;
}

} // namespace

Result<RebuiltRun> RebuiltRun::of(const DeviceTrace& trace, const ProgramRun& run, const Progress& progress)
{
    if (run.reordered && trace.blocks().olderCount() > 0)
        return fail(Error::Kind::Refused,
            say("the recording begins with memory of before, and where that would lie is not known"),
            say("record the program from its start"));
    RebuiltRun rebuilt;
    rebuilt.m_recording = std::make_unique<Recording>(trace.recording());
    Recording& recording = *rebuilt.m_recording;
    std::erase_if(
        recording.devices, [&](const DeviceRecording& one) { return one.device != trace.device(); });
    DeviceRecording& device = recording.devices.front();
    if (run.reordered) {
        device.events = reorderedEvents(trace, run, addNewStreams(run, recording), rebuilt.m_recorded);
        std::vector<EventIndex>& latest = rebuilt.m_latest;
        latest = rebuilt.m_recorded;
        for (std::size_t row = 1; row < latest.size(); ++row)
            latest[row] = std::max(latest[row], latest[row - 1]);
        device.finalSegments = {};
        device.finalBlocks = {};
        if (auto& calls = recording.parts.get<AllocatorCalls>().byDevice[trace.device()]; !calls.empty())
            for (std::size_t row = 0; row < calls.size(); ++row)
                calls.edit(row).event = rebuilt.placeOf(calls[row].event);
    } else {
        setSizes(device.events, run);
    }
    auto built = DeviceTrace::build(recording, device, progress);
    if (!built)
        return Failure(built.error());
    rebuilt.m_trace = std::make_unique<DeviceTrace>(std::move(*built));
    return rebuilt;
}

EventIndex RebuiltRun::placeOf(EventIndex recorded) const
{
    if (m_latest.empty())
        return recorded;
    return std::ranges::lower_bound(m_latest, recorded) - m_latest.begin();
}

EventIndex RebuiltRun::recordedAt(EventIndex here) const
{
    return m_recorded.empty() ? here : m_recorded[static_cast<std::size_t>(here)];
}

} // namespace strata::test
