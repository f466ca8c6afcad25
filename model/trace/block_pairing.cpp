// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/block_pairing.h"

#include "model/base/units.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <random>

namespace strata::model {

namespace {

constexpr std::size_t kChunk = Column<Action>::kChunk;
constexpr std::uint32_t kFreed = std::numeric_limits<std::uint32_t>::max(); // instead of an event

std::uint64_t randomKey()
{
    std::random_device device;
    return (std::uint64_t{ device() } << 32 | device()) | 1;
}

const FinalSegment* segmentOf(const std::vector<FinalSegment>& segments, std::uint64_t address)
{
    const auto next = std::upper_bound(segments.begin(), segments.end(), address,
        [](std::uint64_t a, const FinalSegment& s) { return a < s.address; });
    if (next == segments.begin())
        return nullptr;
    const FinalSegment& segment = *std::prev(next);
    return address - segment.address < static_cast<std::uint64_t>(segment.bytes) ? &segment : nullptr;
}

std::string blockText(std::uint64_t address, std::int64_t bytes)
{
    return fmt::format("The block at {} ({})", formatAddress(address), formatExactBytes(bytes));
}

} // namespace

std::size_t BlockPairing::AddressHash::operator()(std::uint64_t address) const
{
    // The address and its upper half each meet a secret: both halves of the product carry all their bits.
    std::uint64_t x = (address ^ key) * 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 32)) * (key | 1);
    return x ^ (x >> 29);
}

BlockPairing::BlockPairing(DeviceRecording& device, BlockColumns& blocks, FindingList& findings)
    : m_device(device)
    , m_blocks(blocks)
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
        if (const FinalSegment* const segment = segmentOf(m_device.finalSegments, address))
            entry->second.pool = segment->pool;
    }
    return entry->second;
}

void BlockPairing::countActions()
{
    const Column<Action>& actions = m_device.events.action;
    for (std::size_t first = 0; first < actions.size(); first += Column<Action>::kChunk)
        for (const Action action : actions.run(first))
            ++m_counts[static_cast<std::size_t>(action)];
}

/// Makes room for the rows of one more chunk of allocs.
void BlockPairing::addRows()
{
    const auto allocs = static_cast<std::size_t>(m_counts[static_cast<std::size_t>(Action::Alloc)]);
    m_blocks.extendTo(std::min(m_nextRow + kChunk, allocs));
    m_rows = { &m_blocks.address[m_nextRow], &m_blocks.requestedBytes[m_nextRow], &m_blocks.alloc[m_nextRow],
        &m_blocks.stack[m_nextRow], &m_blocks.stream[m_nextRow], &m_blocks.pool[m_nextRow] };
}

bool BlockPairing::pairEvents(const Progress& progress)
{
    EventColumns& events = m_device.events;
    const auto count = static_cast<std::size_t>(events.size());
    events.block.extendTo(count, {});
    countActions();
    const std::size_t chunks = count / kChunk + 1;
    for (std::size_t first = 0; first < count; first += kChunk) {
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
    }
    m_blocks.olderFrom = static_cast<std::uint32_t>(m_blocks.size());
    return true;
}

void BlockPairing::onAlloc(
    std::uint32_t e, std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream)
{
    AddressState& state = stateOf(address);
    std::int64_t delta = bytes;
    if (state.live.valid()) {
        const BlockId old = state.live;
        const std::int64_t oldBytes = m_blocks.requestedBytes[old.index()];
        m_blocks.freeCompleted[old.index()] = EventId{ e };
        m_overwritten.emplace_back(e, old);
        delta = wrapSub(delta, oldBytes);
        m_findings.add(Check::AllocOverLive, e, oldBytes, [&] {
            return blockText(address, oldBytes)
                + " was allocated again while live: its free is missing, the "
                  "recording has probably lost events.";
        });
    } else if (!m_requestsOfOlder.empty() && m_requestsOfOlder.erase(address) > 0) {
        m_findings.add(Check::AllocOverLive, e, bytes, [&] {
            return fmt::format(
                "An older block at {} was still pending free when this address was allocated: its "
                "free_completed is missing, the recording has probably lost events.",
                formatAddress(address));
        });
    }
    const std::size_t within = m_nextRow % kChunk;
    if (within == 0)
        addRows();
    m_rows.address[within] = address;
    m_rows.requestedBytes[within] = bytes;
    m_rows.alloc[within] = EventId{ e };
    m_rows.stack[within] = stack;
    m_rows.stream[within] = stream;
    m_rows.pool[within] = state.pool;
    state.live = BlockId{ m_nextRow++ };
    state.used = true;
    m_device.events.block[e] = state.live;
    m_requested.add(e, delta);
}

/// A free that is larger than its block is reported once, at the first of its two events.
void BlockPairing::checkFreeSize(std::uint32_t e, BlockId block, std::int64_t bytes)
{
    const std::int64_t allocated = m_blocks.requestedBytes[block.index()];
    if (bytes <= allocated)
        return;
    const EventId request = m_blocks.freeRequested[block.index()];
    if (request.valid() && request.value != e && m_device.events.bytes[request.index()] > allocated)
        return;
    m_findings.add(Check::FreeLarger, e, wrapSub(bytes, allocated), [&] {
        return fmt::format(
            "{} is freed with {}: the alloc and the free are not of the same block, events are "
            "probably missing between them.",
            blockText(m_blocks.address[block.index()], allocated), formatExactBytes(bytes));
    });
}

void BlockPairing::onFreeRequested(std::uint32_t e, std::uint64_t address, std::int64_t bytes)
{
    const auto reportSecond = [&] {
        m_findings.add(Check::FreeOfFreed, e, bytes, [&] {
            return blockText(address, bytes)
                + " was already waiting to be freed: an alloc or a free_completed before this is missing.";
        });
    };
    const auto known = m_addresses.find(address);
    if (known == m_addresses.end() || !known->second.live.valid()) {
        if (!m_requestsOfOlder.try_emplace(address, e).second)
            reportSecond();
        return;
    }
    const BlockId block = known->second.live;
    m_device.events.block[e] = block;
    m_lastAddress = address;
    m_lastState = &known->second;
    if (m_blocks.freeRequested[block.index()].valid()) {
        reportSecond();
        return;
    }
    m_blocks.freeRequested[block.index()] = EventId{ e };
    checkFreeSize(e, block, bytes);
}

void BlockPairing::onFreeCompleted(std::uint32_t e, std::uint64_t address, std::int64_t bytes)
{
    // Most often its free_requested was the event before.
    AddressState& state
        = m_lastState != nullptr && address == m_lastAddress ? *m_lastState : stateOf(address);
    if (state.live.valid()) {
        const BlockId block = std::exchange(state.live, BlockId{});
        m_blocks.freeCompleted[block.index()] = EventId{ e };
        m_device.events.block[e] = block;
        if (!m_blocks.freeRequested[block.index()].valid())
            m_completedWithoutRequest = true;
        checkFreeSize(e, block, bytes);
        m_requested.add(e, wrapSub(0, m_blocks.requestedBytes[block.index()]));
        return;
    }
    EventId request;
    if (const auto found = m_requestsOfOlder.find(address); found != m_requestsOfOlder.end()) {
        request.value = found->second;
        m_requestsOfOlder.erase(found);
    }
    if (state.used)
        m_findings.add(Check::FreeOfFreed, e, bytes, [&] {
            return blockText(address, bytes)
                + " had already been freed: the alloc before this free is missing, the recording has "
                  "probably "
                  "lost events.";
        });
    m_olderFrees.push_back({ e, request, state.used });
    state.used = true;
    m_requested.add(e, wrapSub(0, bytes));
}

BlockId BlockPairing::addOlder(std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream,
    PoolIndex pool, bool contradicted)
{
    const BlockId block = m_blocks.push(address, bytes, {}, stack, stream, pool);
    m_blocks.pendingAtStart.push_back(false);
    m_contradicted.push_back(contradicted);
    m_requestedAtStart = wrapAdd(m_requestedAtStart, bytes);
    return block;
}

/// The block that the state before the first event has there; nullptr without one.
const FinalBlock* BlockPairing::baseBlockAt(std::uint64_t address) const
{
    const std::vector<FinalBlock>& blocks = m_device.base.blocks;
    const auto found = std::ranges::lower_bound(blocks, address, {}, &FinalBlock::address);
    return found != blocks.end() && found->address == address && found->state != BlockState::Inactive
        ? &*found
        : nullptr;
}

void BlockPairing::addFreedBlocks()
{
    EventColumns& events = m_device.events;
    // PyTorch writes free_requested before free_completed. Where it is missing for an older block it came
    // before the trace, unless this recorder leaves it out for all.
    const bool tellsRequests
        = m_counts[static_cast<std::size_t>(Action::FreeRequested)] > 0 || !m_completedWithoutRequest;
    for (const OlderFree& free : m_olderFrees) {
        const std::uint64_t address = events.address[free.event];
        const std::uint32_t first = free.request.valid() ? free.request.value : free.event;
        const FinalBlock* const base = free.contradicted ? nullptr : baseBlockAt(address);
        const BlockId block
            = addOlder(address, events.bytes[free.event], base ? base->stack : events.stack[first],
                events.stream[first], stateOf(address).pool, free.contradicted);
        m_blocks.freeRequested[block.index()] = free.request;
        m_blocks.freeCompleted[block.index()] = EventId{ free.event };
        events.block[free.event] = block;
        if (free.request.valid()) {
            events.block[free.request.index()] = block;
        } else if (tellsRequests && !free.contradicted) {
            m_blocks.pendingAtStart.back() = true;
            m_pendingAtStart = wrapAdd(m_pendingAtStart, m_blocks.requestedBytes[block.index()]);
        }
    }
}

void BlockPairing::joinWithEndState(BlockId block, const FinalBlock& final)
{
    const EventIndex last = m_device.events.size() - 1;
    const std::size_t row = block.index();
    const std::int64_t requested = m_blocks.requestedBytes[row];
    if (requested != final.requestedBytes) {
        m_findings.add(Check::EndStateDiffers, last, wrapSub(final.requestedBytes, requested), [&] {
            return fmt::format(
                "{} has {} in the final segments: its alloc there is missing from the trace, or "
                "the trace and the segments were not taken together.",
                blockText(final.address, requested), formatExactBytes(final.requestedBytes));
        });
    } else if (const std::int64_t rounding = wrapSub(final.bytes, requested);
               rounding >= 0 && rounding < BlockColumns::kRoundingUnknown) {
        m_blocks.rounding[row] = static_cast<std::uint32_t>(rounding);
    }
    if (!m_blocks.stack[row].valid())
        m_blocks.stack[row] = final.stack;
    const bool tellsRequests = m_counts[static_cast<std::size_t>(Action::FreeRequested)] > 0;
    const bool pending = m_blocks.freeRequested[row].valid();
    if (tellsRequests && pending != (final.state == BlockState::PendingFree))
        m_findings.add(Check::EndStateDiffers, last, requested, [&] {
            return fmt::format(
                "{} is {} in the trace and {} in the final segments: the trace and the segments "
                "were not taken together, or events are missing.",
                blockText(final.address, requested), pending ? "pending free" : "allocated",
                pending ? "allocated" : "pending free");
        });
}

void BlockPairing::addBlocksOfTheEnd()
{
    const EventIndex last = m_device.events.size() - 1;
    struct OlderBlock {
        const FinalSegment* segment;
        const FinalBlock* block;
    };
    std::vector<OlderBlock> older;
    // From the end, so that of blocks at one address (overlapping segments) the last one counts.
    for (std::size_t s = m_device.finalSegments.size(); s-- > 0;) {
        const FinalSegment& segment = m_device.finalSegments[s];
        for (std::uint32_t i = segment.blockCount; i-- > 0;) {
            const FinalBlock& final = m_device.finalBlocks[segment.firstBlock + i];
            if (final.state == BlockState::Inactive)
                continue;
            AddressState& state = stateOf(final.address);
            if (std::exchange(state.inEndState, true))
                continue;
            if (state.live.valid())
                joinWithEndState(state.live, final);
            else
                older.push_back({ &segment, &final });
        }
    }
    std::reverse(older.begin(), older.end());
    for (const auto& [segment, final] : older) {
        const bool contradicted = stateOf(final->address).used;
        if (contradicted)
            m_findings.add(Check::EndStateDiffers, last, final->requestedBytes, [&, f = final] {
                return blockText(f->address, f->requestedBytes)
                    + " is free in the trace and active in the final segments: its alloc is missing, or the "
                      "trace and the segments were not taken together.";
            });
        const BlockId block = addOlder(final->address, final->requestedBytes, final->stack, segment->stream,
            segment->pool, contradicted);
        if (const std::int64_t rounding = wrapSub(final->bytes, final->requestedBytes);
            rounding >= 0 && rounding < BlockColumns::kRoundingUnknown)
            m_blocks.rounding[block.index()] = static_cast<std::uint32_t>(rounding);
        const auto request = m_requestsOfOlder.find(final->address);
        if (request != m_requestsOfOlder.end()) {
            m_blocks.freeRequested[block.index()] = EventId{ request->second };
            m_device.events.block[request->second] = block;
            if (final->state != BlockState::PendingFree)
                m_findings.add(Check::EndStateDiffers, last, final->requestedBytes, [&, f = final] {
                    return blockText(f->address, f->requestedBytes)
                        + " is pending free in the trace and allocated in the final segments: the trace and "
                          "the "
                          "segments were not taken together, or events are missing.";
                });
            m_requestsOfOlder.erase(request);
        } else if (final->state == BlockState::PendingFree && !contradicted) {
            m_blocks.pendingAtStart.back() = true;
            m_pendingAtStart = wrapAdd(m_pendingAtStart, final->requestedBytes);
        }
    }
}

/// What was there at the start and the trace does not touch lives on; what it frees is known already. What it
/// allocates without a free before is in contradiction with the base state.
void BlockPairing::addBlocksOfTheBase()
{
    boost::unordered_flat_map<std::uint64_t, std::uint32_t, AddressHash> firstUse(
        0, AddressHash{ randomKey() });
    if (!m_device.base.blocks.empty()) {
        for (const OlderFree& free : m_olderFrees)
            if (!free.contradicted)
                firstUse.try_emplace(m_device.events.address[free.event], kFreed);
        for (std::uint32_t row = 0; row < m_blocks.olderFrom; ++row)
            firstUse.try_emplace(m_blocks.address[row], m_blocks.alloc[row].value);
    }
    for (const FinalSegment& segment : m_device.base.segments) {
        for (std::uint32_t i = 0; i < segment.blockCount; ++i) {
            const FinalBlock& base = m_device.base.blocks[segment.firstBlock + i];
            if (base.state == BlockState::Inactive)
                continue;
            if (const auto used = firstUse.find(base.address); used == firstUse.end())
                addBlockOfTheBase(segment, base);
            else if (used->second != kFreed)
                m_findings.add(Check::AllocOverLive, used->second, base.requestedBytes, [&] {
                    return blockText(base.address, base.requestedBytes)
                        + " was there when the recording began and was allocated again: its free is missing, "
                          "the recording has probably lost events.";
                });
        }
    }
}

void BlockPairing::addBlockOfTheBase(const FinalSegment& segment, const FinalBlock& base)
{
    const BlockId block
        = addOlder(base.address, base.requestedBytes, base.stack, segment.stream, segment.pool, false);
    const auto request = m_requestsOfOlder.find(base.address);
    if (base.state == BlockState::PendingFree) {
        m_blocks.pendingAtStart.back() = true;
        m_pendingAtStart = wrapAdd(m_pendingAtStart, base.requestedBytes);
    } else if (request != m_requestsOfOlder.end()) {
        m_blocks.freeRequested[block.index()] = EventId{ request->second };
        m_device.events.block[request->second] = block;
    }
    m_requestsOfOlder.erase(base.address);
}

/// What the trace leaves live or pending and the final segments do not have.
void BlockPairing::reportUnmatched()
{
    const EventIndex last = m_device.events.size() - 1;
    for (std::uint32_t row = 0; row < m_blocks.olderFrom; ++row) {
        if (m_blocks.freeCompleted[row].valid())
            continue;
        const std::uint64_t address = m_blocks.address[row];
        if (stateOf(address).inEndState)
            continue;
        ++m_liveNotInSegments;
        m_findings.add(Check::LiveNotInSegments, last, m_blocks.requestedBytes[row], [&] {
            return blockText(address, m_blocks.requestedBytes[row])
                + " is live at the end of the trace and not in the final segments: the trace was cut, or the "
                  "snapshot holds only some of the pools.";
        });
    }
    std::vector<std::pair<std::uint32_t, std::uint64_t>> requests;
    for (const auto& [address, event] : m_requestsOfOlder)
        requests.emplace_back(event, address);
    std::sort(requests.begin(), requests.end());
    for (const auto& [event, address] : requests)
        m_findings.add(
            Check::EndStateDiffers, event, m_device.events.bytes[event], [&, a = address, e = event] {
                return blockText(a, m_device.events.bytes[e])
                    + " waits to be freed at the end of the trace and is not in the final segments: its "
                      "free_completed is missing.";
            });
}

void BlockPairing::addOlderBlocks(bool endKnown)
{
    addFreedBlocks();
    if (endKnown) {
        addBlocksOfTheEnd();
        reportUnmatched();
    } else {
        addBlocksOfTheBase();
    }
}

} // namespace strata::model
