// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/trace/pairing/block_pairing.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <random>

namespace strata::model {

namespace {

Sentence pendingAlone(std::uint64_t address, std::int64_t bytes)
{
    return say(
        "The block at %1 (%2) is pending free in the trace and allocated in the final segments: the trace "
        "and the segments were not taken together, or events are missing.",
        asAddress(address), asExactBytes(bytes));
}

struct AddressHash {
    using is_avalanching = void;
    std::uint64_t key = std::random_device{}() | std::uint64_t{ std::random_device{}() } << 32 | 1;
    std::size_t operator()(std::uint64_t address) const
    {
        std::uint64_t x = (address ^ key) * 0x9e3779b97f4a7c15ull;
        x = (x ^ (x >> 32)) * key;
        return x ^ (x >> 29);
    }
};

class Join {
public:
    Join(const BlockPairing& pairing, DeviceRecording& device, BlockColumns& blocks, FindingList& findings)
        : m_pairing(pairing)
        , m_device(device)
        , m_blocks(blocks)
        , m_findings(findings)
        , m_last(device.events.size() - 1)
    {
        m_result.older = pairing.older();
    }

    EndStateJoin run()
    {
        addBlocks();
        reportLive();
        reportRequests();
        return std::move(m_result);
    }

private:
    void addBlocks();
    void joinLive(BlockId block, const FinalBlock& final);
    void addOlder(const FinalSegment& segment, const FinalBlock& final);
    void reportLive();
    void reportRequests();

    const BlockPairing& m_pairing;
    DeviceRecording& m_device;
    BlockColumns& m_blocks;
    FindingList& m_findings;
    EventIndex m_last;
    EndStateJoin m_result;
    boost::unordered_flat_set<std::uint64_t, AddressHash> m_final; // addresses of active final blocks
};

void Join::addBlocks()
{
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
            if (final.state == BlockState::Inactive || !m_final.insert(final.address).second)
                continue;
            if (const BlockId live = m_pairing.at(final.address).live; live.valid())
                joinLive(live, final);
            else
                older.push_back({ &segment, &final });
        }
    }
    std::reverse(older.begin(), older.end());
    for (const auto& [segment, final] : older)
        addOlder(*segment, *final);
}

void Join::joinLive(BlockId block, const FinalBlock& final)
{
    const std::int64_t requested = m_blocks.requestedBytes[block];
    if (requested != final.requestedBytes) {
        m_findings.add(Check::EndStateDiffers, m_last, wrapSub(final.requestedBytes, requested), [&] {
            return say(
                "The block at %1 (%2) has %3 in the final segments: its alloc there is missing from the "
                "trace, or the trace and the segments were not taken together.",
                asAddress(final.address), asExactBytes(requested), asExactBytes(final.requestedBytes));
        });
    } else if (const std::int64_t rounding = wrapSub(final.bytes, requested);
               rounding >= 0 && rounding < BlockColumns::kRoundingUnknown) {
        m_blocks.rounding.edit(block) = static_cast<std::uint32_t>(rounding);
    }
    if (!m_blocks.stack[block].valid() && final.stack.valid()) {
        m_blocks.stack.edit(block) = final.stack;
        m_result.changedRows = true;
    }
    const bool tellsRequests = m_pairing.count(Action::FreeRequested) > 0;
    const bool pending = m_blocks.pendingSince(block) != BlockColumns::kNever;
    if (tellsRequests && pending != (final.state == BlockState::PendingFree))
        m_findings.add(Check::EndStateDiffers, m_last, requested, [&] {
            return pending
                ? pendingAlone(final.address, requested)
                : say("The block at %1 (%2) is allocated in the trace and pending free in the final "
                      "segments: the trace and the segments were not taken together, or events are "
                      "missing.",
                    asAddress(final.address), asExactBytes(requested));
        });
}

void Join::addOlder(const FinalSegment& segment, const FinalBlock& final)
{
    const bool contradicted = m_pairing.at(final.address).used;
    if (contradicted)
        m_findings.add(Check::EndStateDiffers, m_last, final.requestedBytes, [&] {
            return say(
                "The block at %1 (%2) is free in the trace and active in the final segments: its alloc "
                "is missing, or the trace and the segments were not taken together.",
                asAddress(final.address), asExactBytes(final.requestedBytes));
        });
    const BlockId block
        = m_blocks.pushOlder(final.address, final.requestedBytes, final.stack, segment.stream, segment.pool);
    OlderBlocks& older = m_result.older;
    older.contradicted.push_back(contradicted);
    older.requestedBytes = wrapAdd(older.requestedBytes, final.requestedBytes);
    if (const std::int64_t rounding = wrapSub(final.bytes, final.requestedBytes);
        rounding >= 0 && rounding < BlockColumns::kRoundingUnknown)
        m_blocks.rounding.edit(block) = static_cast<std::uint32_t>(rounding);
    if (const EventId request = m_pairing.requestAt(final.address); request.valid()) {
        m_blocks.freeRequested.edit(block) = request;
        m_device.events.block.edit(request.index()) = block;
        m_result.changedEvents = true;
        if (final.state != BlockState::PendingFree)
            m_findings.add(Check::EndStateDiffers, m_last, final.requestedBytes,
                [&] { return pendingAlone(final.address, final.requestedBytes); });
    } else if (final.state == BlockState::PendingFree && !contradicted) {
        m_blocks.pendingAtStart.edit(block.row()) = 1;
        older.pendingBytes = wrapAdd(older.pendingBytes, final.requestedBytes);
    }
}

/// What the trace leaves live and the final segments do not have.
void Join::reportLive()
{
    const auto report = [&](BlockId block) {
        const std::uint64_t address = m_blocks.address[block];
        if (m_blocks.freeCompleted[block].valid() || m_final.contains(address))
            return;
        ++m_result.liveNotInSegments;
        m_findings.add(Check::LiveNotInSegments, m_last, m_blocks.requestedBytes[block], [&] {
            return say(
                "The block at %1 (%2) is live at the end of the trace and not in the final segments: the "
                "trace was cut, or the snapshot holds only some of the pools.",
                asAddress(address), asExactBytes(m_blocks.requestedBytes[block]));
        });
    };
    for (std::size_t row = 0; row < m_pairing.older().contradicted.size(); ++row)
        report(BlockId::older(row)); // of the base state
    for (std::size_t row = 0; row < m_blocks.bornCount(); ++row)
        if (!m_blocks.freeCompleted.born[row].valid())
            report(BlockId::born(row));
}

void Join::reportRequests()
{
    for (const auto& [event, address] : m_pairing.requests())
        if (!m_final.contains(address))
            m_findings.add(
                Check::EndStateDiffers, event, m_device.events.bytes[event], [&, a = address, e = event] {
                    return say(
                        "The block at %1 (%2) waits to be freed at the end of the trace and is not in the "
                        "final segments: its free_completed is missing.",
                        asAddress(a), asExactBytes(m_device.events.bytes[e]));
                });
}

} // namespace

EndStateJoin joinWithEndState(
    const BlockPairing& pairing, DeviceRecording& device, BlockColumns& blocks, FindingList& findings)
{
    return Join(pairing, device, blocks, findings).run();
}

} // namespace strata::model
