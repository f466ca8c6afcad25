// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/block_pairing.h"

#include <algorithm>
#include <random>

namespace strata::model {

namespace {

constexpr std::size_t kChunk = Column<Action>::kChunk;

std::uint64_t randomKey()
{
    std::random_device device;
    return (std::uint64_t{ device() } << 32 | device()) | 1;
}

bool isStackOfFree(const Recording& recording, StackId stack)
{
    return std::ranges::any_of(recording.stacks.stack(stack), [&](FrameId frame) {
        return recording.strings[recording.stacks.frame(frame).function].find("CachingAllocator::free")
            != std::string_view::npos;
    });
}

} // namespace

const FinalSegment* segmentOf(const std::vector<FinalSegment>& segments, std::uint64_t address)
{
    const auto next = std::upper_bound(segments.begin(), segments.end(), address,
        [](std::uint64_t a, const FinalSegment& s) { return a < s.address; });
    if (next == segments.begin())
        return nullptr;
    const FinalSegment& segment = *std::prev(next);
    return address - segment.address < static_cast<std::uint64_t>(segment.bytes) ? &segment : nullptr;
}

std::size_t BlockPairing::AddressHash::operator()(std::uint64_t address) const
{
    // The address and its upper half each meet a secret: both halves of the product carry all their bits.
    std::uint64_t x = (address ^ key) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 32)) * (key | 1);
    return x ^ (x >> 29);
}

BlockPairing::BlockPairing(BlockColumns& blocks, FindingList& findings)
    : m_blocks(blocks)
    , m_findings(findings)
    , m_addresses(0, AddressHash{ randomKey() })
    , m_requestsOfOlder(0, AddressHash{ randomKey() })
{
}

BlockPairing::AddressState& BlockPairing::stateOf(std::uint64_t address)
{
    const auto [entry, isNew] = m_addresses.try_emplace(address);
    if (isNew) {
        m_lastState = nullptr;
        if (const FinalSegment* const segment = segmentOf(*m_finalSegments, address))
            entry->second.pool = segment->pool;
    }
    return entry->second;
}

BlockPairing::AddressState BlockPairing::at(std::uint64_t address) const
{
    const auto known = m_addresses.find(address);
    return known == m_addresses.end() ? AddressState{} : known->second;
}

EventId BlockPairing::requestAt(std::uint64_t address) const
{
    const auto known = m_requestsOfOlder.find(address);
    return known == m_requestsOfOlder.end() ? EventId{} : EventId{ known->second };
}

std::vector<std::pair<std::uint32_t, std::uint64_t>> BlockPairing::requests() const
{
    std::vector<std::pair<std::uint32_t, std::uint64_t>> requests;
    for (const auto& [address, event] : m_requestsOfOlder)
        requests.emplace_back(event, address);
    std::sort(requests.begin(), requests.end());
    return requests;
}

void BlockPairing::begin(const DeviceRecording& device)
{
    m_finalSegments = &device.finalSegments.get();
    if (device.profiled && device.profiled->unnamedBytes > 0)
        addOlder(0, device.profiled->unnamedBytes, {}, kNoIndex, kNoIndex, false);
    for (const FinalSegment& segment : device.base.segments) {
        for (std::uint32_t i = 0; i < segment.blockCount; ++i) {
            const FinalBlock& base = device.base.blocks[segment.firstBlock + i];
            if (base.state == BlockState::Inactive)
                continue;
            AddressState& state = stateOf(base.address);
            if (state.live.valid()) // segments that overlap: the first one counts
                continue;
            state.live = addOlder(base.address, base.requestedBytes, base.stack, segment.stream,
                state.pool != kNoIndex ? state.pool : segment.pool, false);
            if (base.state == BlockState::PendingFree) {
                m_blocks.pendingAtStart.edit(state.live.row()) = 1;
                m_older.pendingBytes = wrapAdd(m_older.pendingBytes, base.requestedBytes);
            }
        }
    }
}

void BlockPairing::takePools(const DeviceRecording& device)
{
    for (auto& [address, state] : m_addresses) {
        const FinalSegment* const segment = segmentOf(device.finalSegments, address);
        state.pool = segment != nullptr ? segment->pool : kNoIndex;
    }
}

void BlockPairing::countActions()
{
    const Column<Action>& actions = m_device->events.action;
    for (std::size_t first = m_nextEvent; first < actions.size();) {
        const std::span<const Action> run = actions.run(first);
        for (const Action action : run)
            ++m_counts[static_cast<std::size_t>(action)];
        first += run.size();
    }
}

/// Makes room for the rows of the next allocs, up to the end of a chunk.
void BlockPairing::addRows()
{
    const auto allocs = static_cast<std::size_t>(count(Action::Alloc));
    m_firstRow = m_nextRow;
    m_endRow = static_cast<std::uint32_t>(std::min((m_nextRow / kChunk + 1) * kChunk, allocs));
    m_blocks.extendBornTo(m_endRow);
    m_rows = { m_blocks.address.born.fresh(m_nextRow), m_blocks.requestedBytes.born.fresh(m_nextRow),
        m_blocks.alloc.fresh(m_nextRow), m_blocks.stack.born.fresh(m_nextRow),
        m_blocks.stream.born.fresh(m_nextRow), m_blocks.pool.born.fresh(m_nextRow) };
}

bool BlockPairing::append(const Recording& recording, DeviceRecording& device, const Progress& progress)
{
    m_recording = &recording;
    m_device = &device;
    m_finalSegments = &device.finalSegments.get();
    m_changedEarlierEvents = false;
    m_appendedFrom = m_nextEvent;
    EventColumns& events = device.events;
    const auto count = static_cast<std::size_t>(events.size());
    events.block.extendTo(count, {});
    countActions();
    m_endRow = m_nextRow; // the columns may have moved their chunks
    const std::size_t chunks = count / kChunk + 1;
    for (std::size_t first = m_nextEvent; first < count;) {
        if (progress.cancelled())
            return false;
        if (const std::size_t chunk = first / kChunk; chunk % (chunks / 100 + 1) == 0)
            progress({ Stage::Building, static_cast<std::int64_t>(first), events.size(), events.size() });
        const std::span<const Action> actions = events.action.run(first);
        const std::span<const std::uint64_t> addresses = events.address.run(first);
        const std::span<const std::int64_t> sizes = events.bytes.run(first);
        const std::span<const StackId> stacks = events.stack.run(first);
        const std::span<const StreamIndex> streams = events.stream.run(first);
        for (std::size_t i = 0; i < actions.size(); ++i) {
            const auto e = static_cast<std::uint32_t>(first + i);
            switch (actions[i]) {
            case Action::Alloc:
                onAlloc(e, addresses[i], sizes[i], stacks[i], streams[i]);
                break;
            case Action::FreeRequested:
                onFreeRequested(e, addresses[i], sizes[i]);
                break;
            case Action::FreeCompleted:
                onFreeCompleted(e, addresses[i], sizes[i]);
                break;
            case Action::SegmentAlloc:
            case Action::SegmentMap:
                m_reserved.add(e, sizes[i]);
                break;
            case Action::SegmentFree:
            case Action::SegmentUnmap:
                m_reserved.add(e, wrapSub(0, sizes[i]));
                break;
            case Action::Snapshot:
            case Action::Oom:
            case Action::UserDefined:
            case Action::Annotate:
            case Action::Other:
                break;
            }
        }
        first += actions.size();
    }
    for (std::size_t e = m_nextEvent; e < events.reservedReading.size(); ++e)
        m_reserved.add(static_cast<EventIndex>(e), events.readDelta(e));
    m_nextEvent = static_cast<std::uint32_t>(count);
    settlePending();
    return true;
}

void BlockPairing::onAlloc(
    std::uint32_t e, std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream)
{
    AddressState& state = stateOf(address);
    std::int64_t delta = bytes;
    if (state.live.valid()) {
        const BlockId old = state.live;
        const std::int64_t oldBytes = m_blocks.requestedBytes[old];
        m_blocks.freeCompleted.edit(old) = EventId{ e };
        m_overwritten.push_back({ e, old });
        delta = wrapSub(delta, oldBytes);
        m_findings.add(Check::AllocOverLive, e, oldBytes, [&] {
            return say(
                "The block at %1 (%2) was allocated again while live: its free is missing, the recording "
                "has probably lost events.",
                asAddress(address), asExactBytes(oldBytes));
        });
    } else if (!m_requestsOfOlder.empty() && m_requestsOfOlder.erase(address) > 0) {
        m_findings.add(Check::AllocOverLive, e, bytes, [&] {
            return say("An older block at %1 was still pending free when this address was allocated: its "
                       "free_completed is missing, the recording has probably lost events.",
                asAddress(address));
        });
    }
    if (m_nextRow == m_endRow)
        addRows();
    const std::uint32_t within = m_nextRow - m_firstRow;
    m_rows.address[within] = address;
    m_rows.requestedBytes[within] = bytes;
    m_rows.alloc[within] = EventId{ e };
    m_rows.stack[within] = stack;
    m_rows.stream[within] = stream;
    m_rows.pool[within] = state.pool;
    state.live = BlockId::born(m_nextRow++);
    state.used = true;
    m_device->events.block.edit(e) = state.live;
    m_requested.add(e, delta);
}

/// A free that is larger than its block is reported once, at the first of its two events.
void BlockPairing::checkFreeSize(std::uint32_t e, BlockId block, std::int64_t bytes)
{
    const std::int64_t allocated = m_blocks.requestedBytes[block];
    if (bytes <= allocated)
        return;
    const EventId request = m_blocks.freeRequested[block];
    if (request.valid() && request.value != e && m_device->events.bytes[request.index()] > allocated)
        return;
    m_findings.add(Check::FreeLarger, e, wrapSub(bytes, allocated), [&] {
        return say("The block at %1 (%2) is freed with %3: the alloc and the free are not of the same block, "
                   "events are probably missing between them.",
            asAddress(m_blocks.address[block]), asExactBytes(allocated), asExactBytes(bytes));
    });
}

void BlockPairing::onFreeRequested(std::uint32_t e, std::uint64_t address, std::int64_t bytes)
{
    const auto reportSecond = [&] {
        m_findings.add(Check::FreeOfFreed, e, bytes, [&] {
            return say("The block at %1 (%2) was already waiting to be freed: an alloc or a free_completed "
                       "before this is missing.",
                asAddress(address), asExactBytes(bytes));
        });
    };
    const auto known = m_addresses.find(address);
    if (known == m_addresses.end() || !known->second.live.valid()) {
        if (!m_requestsOfOlder.try_emplace(address, e).second)
            reportSecond();
        return;
    }
    const BlockId block = known->second.live;
    m_device->events.block.edit(e) = block;
    m_lastAddress = address;
    m_lastState = &known->second;
    if (m_blocks.pendingSince(block) != BlockColumns::kNever) {
        reportSecond();
        return;
    }
    m_blocks.freeRequested.edit(block) = EventId{ e };
    checkFreeSize(e, block, bytes);
}

void BlockPairing::onFreeCompleted(std::uint32_t e, std::uint64_t address, std::int64_t bytes)
{
    // Most often its free_requested was the event before.
    AddressState& state
        = m_lastState != nullptr && address == m_lastAddress ? *m_lastState : stateOf(address);
    if (!state.live.valid()) {
        onFreeOfUnknown(e, address, bytes, state);
        return;
    }
    const BlockId block = std::exchange(state.live, BlockId{});
    state.used = true;
    m_blocks.freeCompleted.edit(block) = EventId{ e };
    m_device->events.block.edit(e) = block;
    if (block.isOlder())
        countOlderFree(e, m_blocks.requestedBytes[block]);
    else if (!m_blocks.freeRequested[block].valid())
        m_completedWithoutRequest = true;
    checkFreeSize(e, block, bytes);
    m_requested.add(e, wrapSub(0, m_blocks.requestedBytes[block]));
}

void BlockPairing::countOlderFree(std::uint32_t e, std::int64_t bytes)
{
    ++m_freeWithoutAlloc;
    if (m_olderFrees.count++ == 0)
        m_olderFrees.first = e;
    m_olderFrees.bytes = wrapAdd(m_olderFrees.bytes, bytes);
}

/// The stack that a free carries, where it may be that of the allocation: none where C++ tells that it is the
/// free's own. PyTorch gives a free its own stack where it records with context="all", else that of the
/// allocation (CUDACachingAllocator.cpp, record_trace()).
StackId BlockPairing::allocationOf(StackId stackOfFree)
{
    if (!stackOfFree.valid())
        return stackOfFree;
    if (m_stacksOfFrees.size() <= stackOfFree.index())
        m_stacksOfFrees.resize(m_recording->stacks.stackCount());
    StackOf& of = m_stacksOfFrees[stackOfFree.index()];
    if (of == StackOf::NotLookedAt)
        of = isStackOfFree(*m_recording, stackOfFree) ? StackOf::Free : StackOf::Allocation;
    return of == StackOf::Free ? StackId{} : stackOfFree;
}

/// Of a block that nothing has told of: it is older than the trace, unless the trace used its address before.
void BlockPairing::onFreeOfUnknown(
    std::uint32_t e, std::uint64_t address, std::int64_t bytes, AddressState& state)
{
    EventColumns& events = m_device->events;
    EventId request;
    if (const auto found = m_requestsOfOlder.find(address); found != m_requestsOfOlder.end()) {
        request.value = found->second;
        m_requestsOfOlder.erase(found);
    }
    const bool contradicted = std::exchange(state.used, true);
    const std::uint32_t first = request.valid() ? request.value : e;
    const BlockId block = addOlder(
        address, bytes, allocationOf(events.stack[first]), events.stream[first], state.pool, contradicted);
    m_blocks.freeRequested.edit(block) = request;
    m_blocks.freeCompleted.edit(block) = EventId{ e };
    events.block.edit(e) = block;
    if (request.valid()) {
        events.block.edit(request.index()) = block;
        m_changedEarlierEvents = m_changedEarlierEvents || request.value < m_appendedFrom;
    }
    m_requested.add(e, wrapSub(0, bytes));
    if (contradicted) {
        ++m_freeWithoutAlloc;
        m_findings.add(Check::FreeOfFreed, e, bytes, [&] {
            return say(
                "The block at %1 (%2) had already been freed: the alloc before this free is missing, the "
                "recording has probably lost events.",
                asAddress(address), asExactBytes(bytes));
        });
        return;
    }
    countOlderFree(e, bytes);
    if (!request.valid())
        m_unrequested.push_back(static_cast<std::uint32_t>(block.row()));
}

/// PyTorch writes free_requested before free_completed. Where it is missing for an older block it came before
/// the trace, unless this recorder leaves it out for all.
void BlockPairing::settlePending()
{
    const bool tells = count(Action::FreeRequested) > 0 || !m_completedWithoutRequest;
    const auto set = [this](std::uint32_t row, bool pending) {
        m_blocks.pendingAtStart.edit(row) = pending ? 1 : 0;
        const std::int64_t bytes = m_blocks.requestedBytes.older[row];
        m_older.pendingBytes
            = pending ? wrapAdd(m_older.pendingBytes, bytes) : wrapSub(m_older.pendingBytes, bytes);
    };
    if (tells != m_tellsRequests) {
        for (std::size_t i = 0; i < m_settled; ++i)
            set(m_unrequested[i], tells);
        m_changedEarlierEvents = m_changedEarlierEvents || m_settled > 0;
        m_tellsRequests = tells;
    }
    for (; m_settled < m_unrequested.size(); ++m_settled)
        if (tells)
            set(m_unrequested[m_settled], true);
}

BlockId BlockPairing::addOlder(std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream,
    PoolIndex pool, bool contradicted)
{
    m_older.contradicted.push_back(contradicted);
    m_older.requestedBytes = wrapAdd(m_older.requestedBytes, bytes);
    return m_blocks.pushOlder(address, bytes, stack, stream, pool);
}

} // namespace strata::model
