// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/run_requests.h"

#include "model/base/wrap.h"
#include "model/replay/allocator_actions.h"
#include "model/replay/event_pools.h"
#include "model/trace/pairing/segment_tracker.h"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <utility>

namespace strata::model {

namespace {

bool isOfPool(Action action)
{
    return action == Action::Alloc || action == Action::FreeRequested || action == Action::FreeCompleted
        || action == Action::Oom;
}

/// Tells progress, now and then. False: it was cancelled.
bool goesOn(std::size_t row, std::size_t rows, const Progress& progress)
{
    constexpr std::size_t kReport = 1 << 18;
    if (row % kReport != 0)
        return true;
    if (progress.cancelled())
        return false;
    const auto all = static_cast<std::int64_t>(rows);
    progress({ Stage::Building, static_cast<std::int64_t>(row), all, all });
    return true;
}

Failure cancelled()
{
    return fail(Error::Kind::Cancelled, say("cancelled"));
}

/// The rows of Recording::pools by their owners: one of each.
std::map<PoolOwner, PoolIndex> poolsOf(const Recording& recording)
{
    std::map<PoolOwner, PoolIndex> rows{ { PoolOwner{}, kNoIndex } };
    for (std::size_t row = 0; row < recording.pools.size(); ++row)
        rows.emplace(poolOwnerOf(recording, static_cast<PoolIndex>(row)), static_cast<PoolIndex>(row));
    return rows;
}

/// Rows of `streams` by the numbers of streams that a run adds, which are put behind them.
std::map<std::uint16_t, StreamIndex> addNewStreams(const ProgramRun& run, std::vector<std::int64_t>& streams)
{
    std::map<std::uint16_t, StreamIndex> rows;
    for (const ProgramRun::Block& block : run.blocks)
        if (block.newStream != 0)
            rows.emplace(block.newStream, kNoIndex);
    std::int64_t stream = std::int64_t{ 1 } << 40; // handles are smaller, or addresses of the host
    for (auto& [number, row] : rows) {
        if (streams.size() >= kNoIndex)
            break;
        while (std::ranges::find(streams, stream) != streams.end())
            ++stream;
        row = static_cast<StreamIndex>(streams.size());
        streams.push_back(stream);
    }
    return rows;
}

/// Numbers the blocks of a run in the order of their allocs, as a trace does, and tells which event is of
/// which. A block that is asked for while it lives, or freed while it does not, is treated as a trace treats
/// an address.
class AskedBlocks {
public:
    explicit AskedBlocks(std::size_t blocks)
        : m_live(blocks)
        , m_requests(blocks)
    {
    }

    /// `ids` are those of the events so far, of which one may be found out.
    BlockId at(const ProgramRun::Ask& ask, Column<BlockId>& ids)
    {
        const EventId event{ static_cast<std::uint32_t>(ids.size()) };
        switch (ask.action) {
        case Action::Alloc:
            return alloc(ask.block, event);
        case Action::FreeRequested:
            return ask.block == ProgramRun::Ask::kNoBlock ? BlockId{} : requestFree(ask.block, event);
        case Action::FreeCompleted:
            return ask.block == ProgramRun::Ask::kNoBlock ? BlockId{} : completeFree(ask.block, event, ids);
        default:
            return {};
        }
    }

    BlockColumn<EventId> freeRequested, freeCompleted;

private:
    BlockId alloc(std::uint32_t block, EventId event)
    {
        assert(block != ProgramRun::Ask::kNoBlock);
        const BlockId id = BlockId::born(freeCompleted.born.size());
        freeRequested.born.push_back({});
        freeCompleted.born.push_back({});
        if (const BlockId old = std::exchange(m_live[block], id); old.valid())
            freeCompleted.edit(old) = event;
        m_requests[block] = {};
        return id;
    }

    BlockId requestFree(std::uint32_t block, EventId event)
    {
        const BlockId id = m_live[block];
        EventId& request = id.valid() ? freeRequested.edit(id) : m_requests[block];
        if (!request.valid())
            request = event;
        return id;
    }

    BlockId completeFree(std::uint32_t block, EventId event, Column<BlockId>& ids)
    {
        if (const BlockId live = std::exchange(m_live[block], BlockId{}); live.valid()) {
            freeCompleted.edit(live) = event;
            return live;
        }
        const BlockId older = BlockId::older(freeCompleted.older.size());
        const EventId request = std::exchange(m_requests[block], EventId{});
        freeRequested.older.push_back(request);
        freeCompleted.older.push_back(event);
        if (request.valid())
            ids.edit(request.index()) = older;
        return older;
    }

    std::vector<BlockId> m_live; // by block of the run
    std::vector<EventId> m_requests; // likewise: to free what does not live
};

/// The columns of a run that was reordered, but for its blocks.
struct ReorderedColumns {
    std::shared_ptr<Column<Action>> action = std::make_shared<Column<Action>>();
    std::shared_ptr<Column<std::int64_t>> bytes = std::make_shared<Column<std::int64_t>>();
    std::shared_ptr<Column<BlockId>> block = std::make_shared<Column<BlockId>>();
    std::shared_ptr<Column<StreamIndex>> stream = std::make_shared<Column<StreamIndex>>();
    std::shared_ptr<Column<PoolIndex>> pool = std::make_shared<Column<PoolIndex>>();
};

/// What stood before the first event.
std::shared_ptr<const SegmentLives::Rows> segmentsAtStart(const DeviceTrace& trace)
{
    SegmentTracker tracker;
    if (const DeviceRecording* const device = trace.recording().find(trace.device()))
        tracker.begin(*device);
    return std::make_shared<const SegmentLives::Rows>(tracker.lives().rows());
}

/// Of the segments that stood at the start, as a trace without events on segments tells it.
std::int64_t reservedAtStart(const DeviceTrace& trace)
{
    const DeviceRecording* const device = trace.recording().find(trace.device());
    if (device == nullptr)
        return 0;
    if (device->profiled)
        return device->profiled->reservedBytes.value_or(0);
    std::int64_t bytes = 0;
    if (trace.recording().truncation)
        for (const FinalSegment& segment : device->base.segments)
            bytes = wrapAdd(bytes, segment.bytes);
    return bytes;
}

} // namespace

RunRequests::RunRequests(const DeviceTrace& trace)
    : m_requests(ReplayRequests::of(trace))
{
}

Result<RunRequests> RunRequests::of(const DeviceTrace& trace, const ProgramRun& run, const Progress& progress)
{
    if (run.reordered && trace.blocks().olderCount() > 0)
        return fail(Error::Kind::Refused,
            say("the recording begins with memory of before, and where that would lie is not known"),
            say("record the program from its start"));
    RunRequests made(trace);
    made.m_startsEmpty = run.before.has_value();
    const auto done = run.before ? made.reorder(withStart(trace, run), progress)
        : run.reordered          ? made.reorder(run, progress)
                                 : made.resize(run, progress);
    if (!done)
        return Failure(done.error());
    return made;
}

Result<void> RunRequests::resize(const ProgramRun& run, const Progress& progress)
{
    const Column<std::int64_t>& recorded = m_requests.trace->events().bytes;
    const auto bytes = std::make_shared<Column<std::int64_t>>();
    for (std::size_t row = 0; row < recorded.size(); ++row) {
        if (!goesOn(row, recorded.size(), progress))
            return cancelled();
        const std::uint32_t block = row < run.asks.size() ? run.asks[row].block : ProgramRun::Ask::kNoBlock;
        bytes->push_back(block == ProgramRun::Ask::kNoBlock ? recorded[row] : run.blocks[block].bytes);
    }
    for (const EventIndex event : run.unasked)
        bytes->edit(static_cast<std::size_t>(event)) = 0;
    m_requests.bytes = bytes;
    return {};
}

Result<void> RunRequests::reorder(const ProgramRun& run, const Progress& progress)
{
    const DeviceTrace& trace = *m_requests.trace;
    const EventColumns& from = trace.events();
    const EventPools pools(trace);
    const std::map<PoolOwner, PoolIndex> poolRows = poolsOf(trace.recording());
    const std::map<std::uint16_t, StreamIndex> newStreams = addNewStreams(run, m_requests.streams);
    AskedBlocks blocks(run.blocks.size());
    const ReorderedColumns to;
    for (std::size_t at = 0; at < run.asks.size(); ++at) {
        if (!goesOn(at, run.asks.size(), progress))
            return cancelled();
        const ProgramRun::Ask& ask = run.asks[at];
        if (isOfSegment(ask.action))
            continue;
        const auto like = static_cast<std::size_t>(ask.like);
        const ProgramRun::Block* const ours
            = ask.block == ProgramRun::Ask::kNoBlock ? nullptr : &run.blocks[ask.block];
        const std::size_t place = ours != nullptr ? static_cast<std::size_t>(ours->like) : like;
        const bool isAsked = ours != nullptr || !std::ranges::binary_search(run.unasked, ask.like);
        to.action->push_back(ask.action);
        to.bytes->push_back(ours != nullptr ? ours->bytes : isAsked ? from.bytes[like] : 0);
        to.block->push_back(blocks.at(ask, *to.block));
        const BlockId older = ours != nullptr && ours->older != 0 ? BlockId::older(ours->older - 1) : BlockId{};
        to.stream->push_back(ours != nullptr && ours->newStream != 0 ? newStreams.at(ours->newStream)
                : older.valid() ? trace.blocks().stream[older]
                                : from.stream[place]);
        to.pool->push_back(!isOfPool(ask.action) ? kNoIndex
                : older.valid() ? poolRows.at(poolOwnerOf(trace.recording(), trace.blocks().pool[older]))
                                : poolRows.at(pools.at(place)));
        m_recorded.push_back(ask.like);
    }
    m_isReordered = true;
    m_latest = m_recorded;
    for (std::size_t row = 1; row < m_latest.size(); ++row)
        m_latest[row] = std::max(m_latest[row], m_latest[row - 1]);
    const auto calls = std::make_shared<AllocatorCalls::Calls>();
    for (std::size_t row = 0; row < m_requests.calls->size(); ++row) {
        AllocatorCall call = (*m_requests.calls)[row];
        call.event = placeOf(call.event);
        calls->push_back(call);
    }
    m_requests.action = to.action;
    m_requests.bytes = to.bytes;
    m_requests.block = to.block;
    m_requests.stream = to.stream;
    m_requests.pool = to.pool;
    m_requests.address = nullptr;
    m_requests.freeRequested = std::make_shared<const BlockColumn<EventId>>(std::move(blocks.freeRequested));
    m_requests.freeCompleted = std::make_shared<const BlockColumn<EventId>>(std::move(blocks.freeCompleted));
    m_requests.segments
        = m_startsEmpty ? std::make_shared<const SegmentLives::Rows>() : segmentsAtStart(trace);
    m_requests.calls = calls;
    return {};
}

EventIndex RunRequests::placeOf(EventIndex recorded) const
{
    if (m_latest.empty())
        return recorded;
    return std::ranges::lower_bound(m_latest, recorded) - m_latest.begin();
}

EventIndex RunRequests::recordedAt(EventIndex here) const
{
    return m_recorded.empty() ? here : m_recorded[static_cast<std::size_t>(here)];
}

std::int64_t RunRequests::recordedReservedPeak() const
{
    const DeviceTrace& trace = *m_requests.trace;
    if (m_isReordered)
        return m_startsEmpty ? 0 : reservedAtStart(trace);
    std::int64_t reserved = trace.totals().reservedBytesStart, most = reserved;
    const EventColumns& events = trace.events();
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        const Action action = events.action[row];
        if (action == Action::SegmentAlloc || action == Action::SegmentMap)
            most = std::max(most, reserved = wrapAdd(reserved, events.bytes[row]));
        else if (action == Action::SegmentFree || action == Action::SegmentUnmap)
            reserved = wrapSub(reserved, events.bytes[row]);
    }
    return most;
}

} // namespace strata::model
