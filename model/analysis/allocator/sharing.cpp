// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/allocator/sharing.h"

#include "model/analysis/allocator/settings_advice.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace strata::model {

namespace {

/// Streams by their numbers in the recording; the default stream, and what is on no known one, has none.
class StreamSlots {
public:
    explicit StreamSlots(const DeviceTrace& trace)
        : m_trace(trace)
        , m_slotOf(trace.recording().streams.size(), kNoIndex)
        , m_live(m_slotOf.size())
        , m_seen(m_slotOf.size())
        , m_blocks(m_slotOf.size())
    {
    }

    [[nodiscard]] bool isSide(StreamIndex stream) const
    {
        return stream != kNoIndex && m_trace.recording().streams[stream] != 0;
    }

    /// The stream that a request of `stream` goes to.
    [[nodiscard]] StreamIndex allocate(StreamIndex stream)
    {
        if (!isSide(stream))
            return stream;
        see(stream);
        if (m_slotOf[stream] == kNoIndex) {
            const auto free
                = std::ranges::find_if(m_order, [&](StreamIndex slot) { return m_live[slot] == 0; });
            m_slotOf[stream] = *free; // its own at the latest: nobody else is there
            m_used += std::exchange(m_seen[*free], kUsed) == kUsed ? 0 : 1;
        }
        ++m_live[m_slotOf[stream]];
        ++m_blocks[stream];
        return m_slotOf[stream];
    }

    /// A block of the state that the trace began with stays where it is.
    void keep(StreamIndex stream)
    {
        if (!isSide(stream))
            return;
        see(stream);
        m_slotOf[stream] = stream;
        m_used += std::exchange(m_seen[stream], kUsed) == kUsed ? 0 : 1;
        ++m_live[stream];
        ++m_blocks[stream];
    }

    void free(StreamIndex stream)
    {
        if (!isSide(stream) || m_slotOf[stream] == kNoIndex)
            return;
        --m_live[m_slotOf[stream]];
        if (--m_blocks[stream] == 0)
            m_slotOf[stream] = kNoIndex;
    }

    [[nodiscard]] std::int64_t streams() const { return std::ssize(m_order); }
    [[nodiscard]] std::int64_t used() const { return m_used; }

private:
    static constexpr char kSeen = 1, kUsed = 2;

    void see(StreamIndex stream)
    {
        if (m_seen[stream] == 0) {
            m_seen[stream] = kSeen;
            m_order.push_back(stream);
        }
    }

    const DeviceTrace& m_trace;
    std::vector<StreamIndex> m_slotOf; // by stream, while it has live blocks
    std::vector<std::int64_t> m_live; // by slot, of all streams that are there
    std::vector<char> m_seen; // by stream
    std::vector<std::int64_t> m_blocks; // live ones, by stream
    std::vector<StreamIndex> m_order; // in which they came
    std::int64_t m_used = 0;
};

struct SharedRequests {
    ReplayRequests requests;
    SharedMemory places;
};

std::optional<SharedRequests> withSharedStreams(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    const BlockColumns& blocks = trace.blocks();
    if (std::ranges::count_if(trace.recording().streams, [](std::int64_t stream) { return stream != 0; }) < 2)
        return std::nullopt;
    StreamSlots slots(trace);
    for (std::size_t row = 0; row < blocks.olderCount(); ++row)
        slots.keep(blocks.stream[BlockId::older(row)]);
    auto streams = std::make_shared<Column<StreamIndex>>();
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        const BlockId block = events.block[row];
        StreamIndex stream = events.stream[row];
        if (events.action[row] == Action::Alloc && block.valid())
            stream = slots.allocate(stream);
        else if (events.action[row] == Action::FreeCompleted && block.valid())
            slots.free(blocks.stream[block]);
        streams->push_back(stream);
    }
    if (slots.used() >= slots.streams())
        return std::nullopt;
    SharedRequests shared{ ReplayRequests::of(trace), {} };
    shared.requests.stream = std::move(streams);
    shared.places.places = slots.streams();
    shared.places.needed = slots.used();
    return shared;
}

/// Of captures of graphs, which have (n,0): a MemPool, (0,n), may be there for its allocator.
std::optional<SharedRequests> withSharedPools(const DeviceTrace& trace)
{
    const std::vector<Pool>& pools = trace.recording().pools;
    const auto isOfGraph = [](std::int64_t owner, std::int64_t id) { return owner != 0 && id == 0; };
    if (std::ranges::count_if(pools, [&](const Pool& pool) { return isOfGraph(pool.owner, pool.id); }) < 2)
        return std::nullopt;
    const EventPools eventPools(trace);
    std::map<std::int64_t, PoolIndex> rows; // of pools that are requested from, by owner
    std::map<PoolOwner, PoolIndex> known;
    for (PoolIndex row = 0; row < static_cast<PoolIndex>(pools.size()); ++row)
        known.try_emplace(PoolOwner{ pools[row].owner, pools[row].id }, row);
    auto column = std::make_shared<Column<PoolIndex>>();
    const EventColumns& events = trace.events();
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        const PoolOwner owner = eventPools.at(row);
        const auto of = known.find(owner);
        PoolIndex pool = owner.isDefault() || of == known.end() ? PoolIndex{ kNoIndex } : of->second;
        if (isOfGraph(owner.owner, owner.id) && pool != kNoIndex) {
            if (events.action[row] == Action::Alloc)
                rows.try_emplace(owner.owner, pool);
            if (!rows.empty())
                pool = rows.begin()->second;
        }
        column->push_back(pool);
    }
    if (rows.size() < 2)
        return std::nullopt;
    // The lowest number may have come later: all of them take its pool.
    const PoolIndex shared = rows.begin()->second;
    for (std::size_t row = 0; row < column->size(); ++row)
        if (const PoolIndex pool = (*column)[row];
            pool != kNoIndex && isOfGraph(pools[pool].owner, pools[pool].id) && pool != shared)
            column->edit(row) = shared;
    auto calls = std::make_shared<AllocatorCalls::Calls>();
    for (AllocatorCall call : AllocatorCalls::of(trace.recording(), trace.device())) {
        if (isOfGraph(call.poolOwner, call.poolId) && rows.contains(call.poolOwner))
            call.poolOwner = pools[shared].owner;
        calls->push_back(call);
    }
    SharedRequests all{ ReplayRequests::of(trace), {} };
    all.requests.pool = std::move(column);
    all.requests.calls = std::move(calls);
    all.places.places = std::ssize(rows);
    all.places.needed = 1;
    return all;
}

Result<std::optional<SharedMemory>> replayShared(const std::optional<SharedRequests>& shared,
    const DeviceTrace& trace, const ReplayReport& report, const std::optional<RefusedRequest>& refused,
    const Progress& progress)
{
    if (!shared)
        return std::optional<SharedMemory>();
    SettingsAsked asked = askedAbout(trace, refused);
    const auto recorded = recordedNeed(trace, report, asked, progress);
    if (!recorded)
        return Failure(recorded.error());
    asked.settings = report.settingsText;
    asked.ranges = false;
    asked.orderThatFits = AddressPolicy{};
    const auto need = needOf(asked, false, [&](const SettingsAsked& with) {
        return answerSettings(
            shared->requests, [&] { return recorded->bytes; }, report, with, progress);
    });
    if (!need && need.error().kind == Error::Kind::Cancelled)
        return Failure(need.error());
    if (!need || (need->there.firstNewOomEvent && !refused))
        return std::optional<SharedMemory>();
    const ComparedNeed compared = compareNeeds(*recorded, need->needed);
    SharedMemory found = shared->places;
    found.recordedBytesPeak = compared.beforeBytes;
    found.reservedBytesPeak = compared.afterBytes;
    found.exact = need->answer.exact;
    found.servesRequest = refused && need->serves(*refused);
    return std::optional(found);
}

bool canShare(const DeviceTrace& trace, const ReplayReport& report)
{
    return trace.eventCount() > 0 && report.agrees();
}

} // namespace

Result<Sharing> trySharing(const DeviceTrace& trace, const ReplayReport& report, const Progress& progress)
{
    Sharing sharing;
    if (!canShare(trace, report))
        return sharing;
    const auto refused = lastRefusedRequest(trace, report);
    const auto streams = replayShared(withSharedStreams(trace), trace, report, refused, progress);
    if (!streams)
        return Failure(streams.error());
    const auto pools = replayShared(withSharedPools(trace), trace, report, refused, progress);
    if (!pools)
        return Failure(pools.error());
    return Sharing{ *streams, *pools };
}

Result<std::optional<SharedMemory>> tryOnePool(const DeviceTrace& trace, const ReplayReport& report,
    const RefusedRequest& refused, const Progress& progress)
{
    if (!canShare(trace, report))
        return std::optional<SharedMemory>();
    return replayShared(withSharedPools(trace), trace, report, refused, progress);
}

std::vector<Sentence> saySharing(const DeviceTrace& trace, const Fragmentation& now, const Sharing& sharing)
{
    std::vector<Sentence> said;
    if (sharing.streams && sharing.streams->isWorth()) {
        std::int64_t cached = 0, streams = 0;
        for (const ReservedSum& of : now.streams)
            if (of.stream != kNoIndex && trace.recording().streams[of.stream] != 0 && of.freeBytes > 0) {
                cached += of.freeBytes;
                ++streams;
            }
        said.push_back(streams > 1
                ? say("%1 are cached in %2 streams, each usable only by its own stream: reuse the streams.",
                    asBytes(cached), streams)
                : say("The %1 streams beside the default one take turns: reuse the streams.",
                    sharing.streams->places));
        said.push_back(say("With %1 the replay reserves %2 instead of %3.",
            sayCounted("%1 stream beside the default one", "%1 streams beside the default one",
                sharing.streams->needed),
            asBytes(sharing.streams->reservedBytesPeak), asBytes(sharing.streams->recordedBytesPeak)));
    }
    if (sharing.pools && sharing.pools->isWorth())
        said.push_back(say("%1 graph pools; one shared pool would reserve %2 instead of %3: pass the same "
                           "pool= to each torch.cuda.graph().",
            sharing.pools->places, asBytes(sharing.pools->reservedBytesPeak),
            asBytes(sharing.pools->recordedBytesPeak)));
    return said;
}

} // namespace strata::model
