// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/replay/other_settings.h"

#include "model/replay/played_calls.h"

#include <boost/unordered/unordered_flat_map.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <utility>

namespace strata::model {

namespace {

constexpr std::int64_t kUnlimitedCapacity = std::int64_t{ 1 } << 60;

class Run {
public:
    Run(const ReplayRequests& requests, const ReplayQuestion& question, ReplayedEvents* told)
        : m_asks(requests)
        , m_actions(*requests.action)
        , m_blocks(*requests.block)
        , m_bytes(*requests.bytes)
        , m_streams(*requests.stream)
        , m_pools(*requests.trace)
        , m_question(question)
        , m_rangeBytes(question.deviceBytes > 0 ? question.settings.rangeBytes(1, question.deviceBytes)
                                                : kUnknownRange)
        , m_driver(question.addresses, question.capacityBytes.value_or(kUnlimitedCapacity), m_rangeBytes)
        , m_teller(told != nullptr ? std::make_unique<TellingDriver>(m_driver, *told) : nullptr)
        , m_allocator(question.settings, m_teller ? *m_teller : static_cast<AllocatorDriver&>(m_driver),
              question.deviceBytes)
        , m_calls(requests.trace->recording(), *requests.calls)
        , m_born(requests.bornCount(), nullptr)
        , m_older(requests.olderCount(), nullptr)
    {
        StartState(requests, question.settings, m_rangeBytes).putInto(m_allocator, question.rank, m_older);
        m_driver.take(m_allocator.reservedBytes());
        if (question.pendingFrees == PendingFrees::Late)
            m_longestWait = longestWait();
        else if (question.pendingFrees == PendingFrees::HalfLate)
            m_longestWait = (longestWait() + 1) / 2;
        m_figures.allocatedBytesPeak = m_allocator.allocatedBytes();
        m_figures.activeBytesPeak = m_allocator.activeBytes();
        m_figures.reservedBytesPeak = m_allocator.reservedBytes();
        m_figures.strandedBytesPeak = m_allocator.reservedBytes() - m_allocator.activeBytes();
    }

    [[nodiscard]] bool go(const Progress& progress)
    {
        constexpr std::size_t kReport = 1 << 18;
        std::size_t count = m_asks.size();
        if (m_question.until)
            count = std::min(count, static_cast<std::size_t>(*m_question.until + 1));
        const std::vector<EventIndex> asked = m_question.emptyCaches.value_or(std::vector<EventIndex>());
        auto emptied = asked.begin();
        auto ended = m_question.poolEnds.begin();
        for (std::size_t row = 0; row < count; ++row) {
            if (m_question.endsAtNewOom && m_figures.firstNewOomEvent)
                break;
            if (row % kReport == 0) {
                if (progress.cancelled())
                    return false;
                progress({ Stage::Checking, static_cast<std::int64_t>(row), static_cast<std::int64_t>(count),
                    static_cast<std::int64_t>(count) });
            }
            const auto event = static_cast<EventIndex>(row);
            if (m_teller)
                m_teller->begin(event, poolOf(row));
            while (m_calls.waitsAt(event))
                m_calls.playNext(m_allocator, !m_question.emptyCaches);
            for (; emptied != asked.end() && *emptied <= event; ++emptied)
                m_allocator.emptyCache();
            for (; ended != m_question.poolEnds.end() && ended->event <= event; ++ended) {
                m_allocator.releasePool(ended->pool);
                if (ended->alone)
                    m_allocator.emptyCache(ended->pool);
            }
            step(row);
        }
        if (m_teller)
            m_teller->tellEnd(m_allocator);
        m_figures.deviceMallocs = m_allocator.deviceMallocs();
        m_figures.deviceFrees = m_allocator.deviceFrees();
        m_figures.byAddress = m_allocator.hasChosenByAddress();
        m_figures.metCapacity = m_driver.refusals() > 0;
        return true;
    }

    [[nodiscard]] const ReplayFigures& figures() const { return m_figures; }

private:
    void step(std::size_t row)
    {
        switch (m_actions[row]) {
        case Action::Alloc:
        case Action::Oom:
            allocate(row);
            break;
        case Action::FreeRequested:
            if (ReplayBlock* block = blockAt(row); block != nullptr && block->allocated) {
                requestFree(*block);
                if (m_question.pendingFrees == PendingFrees::AtOnce)
                    complete(m_blocks[row]);
                else if (m_longestWait > 0 && waits(row))
                    m_waiting.emplace_back(m_made + m_longestWait, m_blocks[row]);
            }
            break;
        case Action::FreeCompleted:
            if (ReplayBlock* block = blockAt(row)) {
                const BlockId id = m_blocks[row];
                if (block->allocated) // the trace does not show that it was requested
                    requestFree(*block);
                const EventId asked = (*m_asks.freeRequested)[id];
                const bool endsLater = m_longestWait > 0 && asked.valid() && waits(asked.index());
                if (!endsLater)
                    complete(id);
            }
            break;
        default:
            break;
        }
    }

    void complete(BlockId id)
    {
        ReplayBlock* const block = std::exchange(blockOf(id), nullptr);
        if (block != nullptr && block->tag == id.value && block->pool != nullptr && block->pending)
            completeFree(*block);
    }

    void requestFree(ReplayBlock& block)
    {
        if (m_teller)
            m_teller->tell(Action::FreeRequested, block, 0);
        m_allocator.requestFree(block);
    }

    void completeFree(ReplayBlock& block)
    {
        if (m_teller)
            m_teller->tell(Action::FreeCompleted, block, 0);
        m_allocator.completeFree(block);
    }

    /// Whether the free that is asked for in that row was completed later than at once.
    [[nodiscard]] bool waits(std::size_t row) const
    {
        const EventId end = (*m_asks.freeCompleted)[m_blocks[row]];
        return !end.valid() || end.index() > row + 1;
    }

    /// In requests: how long frees have waited for other streams at most.
    [[nodiscard]] std::int64_t longestWait() const
    {
        std::int64_t longest = 0, requests = 0;
        boost::unordered_flat_map<std::int32_t, std::int64_t> asked; // after how many requests
        for (std::size_t row = 0; row < m_asks.size(); ++row) {
            const BlockId id = m_blocks[row];
            if (m_actions[row] == Action::Alloc)
                ++requests;
            else if (m_actions[row] == Action::FreeRequested && id.valid()
                && (*m_asks.freeRequested)[id] == EventId{ static_cast<std::uint32_t>(row) } && waits(row))
                asked.emplace(id.value, requests);
            else if (m_actions[row] == Action::FreeCompleted && id.valid())
                if (const auto of = asked.find(id.value); of != asked.end()) {
                    longest = std::max(longest, requests - of->second);
                    asked.erase(of);
                }
        }
        return longest;
    }

    void allocate(std::size_t row)
    {
        for (++m_made; !m_waiting.empty() && m_waiting.front().first < m_made; m_waiting.pop_front())
            complete(m_waiting.front().second);
        const std::int64_t requested = m_bytes[row];
        if (requested <= 0 || requested > kLargestRequest)
            return;
        const BlockId id = m_blocks[row];
        const PoolOwner owner = poolOf(row);
        const bool captures = !m_calls.areComplete() && !owner.isDefault()
            && m_question.settings.version < TorchVersion{ 2, 13 };
        if (captures)
            m_allocator.setCapturing(true);
        ReplayBlock* block = m_allocator.allocate(requested, streamOf(row), owner);
        if (captures)
            m_allocator.setCapturing(false);
        const auto event = static_cast<EventIndex>(row);
        if (m_allocator.reservedBytesPeak() > m_figures.reservedBytesPeak) {
            m_figures.reservedBytesPeak = m_allocator.reservedBytesPeak();
            m_figures.reservedPeakEvent = event;
        }
        if (block == nullptr) {
            if (m_teller)
                m_teller->tellRefused(m_question.settings.roundedBytes(requested), streamOf(row));
            ++m_figures.requestsRefused;
            if (!m_figures.firstOomEvent)
                m_figures.firstOomEvent = event;
            m_figures.lastOomEvent = event;
            if (!m_figures.firstNewOomEvent && m_actions[row] == Action::Alloc)
                m_figures.firstNewOomEvent = event;
            return;
        }
        const bool didWithout = m_actions[row] == Action::Oom; // the program did not get it
        block->tag = didWithout ? ReplayedEvents::kNoBlock : id.value;
        if (m_teller)
            m_teller->tell(Action::Alloc, *block, requested);
        if (didWithout) {
            requestFree(*block);
            completeFree(*block);
            return;
        }
        if (id.valid() && !id.isOlder())
            m_born[id.row()] = block;
        if (m_allocator.allocatedBytes() > m_figures.allocatedBytesPeak) {
            m_figures.allocatedBytesPeak = m_allocator.allocatedBytes();
            m_figures.allocatedPeakEvent = event;
        }
        m_figures.activeBytesPeak = std::max(m_figures.activeBytesPeak, m_allocator.activeBytes());
        m_figures.strandedBytesPeak
            = std::max(m_figures.strandedBytesPeak, m_allocator.reservedBytes() - m_allocator.activeBytes());
    }

    [[nodiscard]] std::uint64_t streamOf(std::size_t row) const
    {
        const StreamIndex stream = m_streams[row];
        return stream == kNoIndex ? 0 : static_cast<std::uint64_t>(m_asks.streams[stream]);
    }

    [[nodiscard]] PoolOwner poolOf(std::size_t row) const
    {
        return m_asks.pool ? poolOwnerOf(m_asks.trace->recording(), (*m_asks.pool)[row]) : m_pools.at(row);
    }

    [[nodiscard]] ReplayBlock*& blockOf(BlockId id) { return (id.isOlder() ? m_older : m_born)[id.row()]; }

    /// What is left of the block of an event: a retry may have completed its free earlier than recorded.
    [[nodiscard]] ReplayBlock* blockAt(std::size_t row)
    {
        const BlockId id = m_blocks[row];
        if (!id.valid())
            return nullptr;
        ReplayBlock* block = blockOf(id);
        return block != nullptr && block->tag == id.value && block->pool != nullptr && !block->isFree()
            ? block
            : nullptr;
    }

    const ReplayRequests& m_asks;
    const Column<Action>& m_actions;
    const Column<BlockId>& m_blocks;
    const Column<std::int64_t>& m_bytes;
    const Column<StreamIndex>& m_streams;
    EventPools m_pools; // of the trace
    const ReplayQuestion& m_question;
    std::int64_t m_rangeBytes;
    SimulatedDriver m_driver;
    std::unique_ptr<TellingDriver> m_teller; // where somebody listens
    CachingAllocator m_allocator;
    RecordedCalls m_calls;
    std::vector<ReplayBlock*> m_born, m_older; // by row
    std::int64_t m_made = 0;
    std::int64_t m_longestWait = 0; // 0: frees end where they were recorded to
    std::deque<std::pair<std::int64_t, BlockId>> m_waiting; // until how many requests were made
    ReplayFigures m_figures;
};

} // namespace

Result<ReplayFigures> replayUnder(const ReplayRequests& requests, const ReplayQuestion& question,
    const Progress& progress, ReplayedEvents* told)
{
    Run run(requests, question, told);
    if (!run.go(progress))
        return fail(Error::Kind::Cancelled, say("the replay was cancelled"));
    return run.figures();
}

ReplayFigures recordedFigures(const DeviceTrace& trace, const BlockColumn<std::uint32_t>& rounding)
{
    const EventColumns& events = trace.events();
    const BlockColumns& blocks = trace.blocks();
    const auto sizeOf = [&](BlockId block) {
        const std::uint32_t more = rounding[block];
        return blocks.requestedBytes[block] + (more == BlockColumns::kRoundingUnknown ? 0 : more);
    };
    ReplayFigures figures;
    std::int64_t allocated = 0, active = 0, reserved = trace.totals().reservedBytesStart;
    for (std::size_t row = 0; row < blocks.olderCount(); ++row) {
        const std::int64_t bytes = sizeOf(BlockId::older(row));
        active += bytes;
        allocated += blocks.pendingAtStart[row] != 0 ? 0 : bytes;
    }
    figures.allocatedBytesPeak = allocated;
    figures.activeBytesPeak = active;
    figures.reservedBytesPeak = reserved;
    figures.strandedBytesPeak = reserved - active;
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        const auto event = static_cast<EventIndex>(row);
        const BlockId block = events.block[row];
        switch (events.action[row]) {
        case Action::Alloc:
            allocated += sizeOf(block);
            active += sizeOf(block);
            if (allocated > figures.allocatedBytesPeak) {
                figures.allocatedBytesPeak = allocated;
                figures.allocatedPeakEvent = event;
            }
            figures.activeBytesPeak = std::max(figures.activeBytesPeak, active);
            figures.strandedBytesPeak = std::max(figures.strandedBytesPeak, reserved - active);
            break;
        case Action::FreeRequested:
            if (block.valid() && blocks.pendingSince(block) == event)
                allocated -= sizeOf(block);
            break;
        case Action::FreeCompleted:
            active -= sizeOf(block);
            if (blocks.pendingSince(block) == BlockColumns::kNever)
                allocated -= sizeOf(block);
            break;
        case Action::SegmentAlloc:
        case Action::SegmentMap:
            reserved += events.bytes[row];
            ++figures.deviceMallocs;
            if (reserved > figures.reservedBytesPeak) {
                figures.reservedBytesPeak = reserved;
                figures.reservedPeakEvent = event;
            }
            break;
        case Action::SegmentFree:
        case Action::SegmentUnmap:
            reserved -= events.bytes[row];
            ++figures.deviceFrees;
            break;
        case Action::Oom:
            ++figures.requestsRefused;
            if (!figures.firstOomEvent)
                figures.firstOomEvent = event;
            figures.lastOomEvent = event;
            break;
        default:
            break;
        }
    }
    return figures;
}

} // namespace strata::model
