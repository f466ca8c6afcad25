// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/progress.h"
#include "model/base/wrap.h"
#include "model/trace/blocks.h"
#include "model/trace/findings.h"
#include "model/trace/recording.h"

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

namespace strata::model {

inline constexpr std::size_t kActionCount = static_cast<std::size_t>(Action::Other) + 1;

/// A curve relative to its value before the first event: where it ends, how far it rises and where first.
struct RelativeCurve {
    std::int64_t net = 0;
    std::int64_t rise = 0; ///< the highest value, at least 0
    std::int64_t fall = 0; ///< the lowest value, at most 0
    EventIndex peakEvent = -1;

    void add(EventIndex e, std::int64_t delta)
    {
        net = wrapAdd(net, delta);
        if (net > rise) {
            rise = net;
            peakEvent = e;
        }
        fall = net < fall ? net : fall;
    }
};

/// Turns the allocs and frees of one device's trace, and the blocks of its end state, into block lifetimes,
/// and tells every event which block it is of. One hash probe an event; memory grows with the number of
/// distinct addresses, not of events. The hash is keyed at random, so that crafted addresses cannot make it
/// slow.
class BlockPairing {
public:
    BlockPairing(DeviceRecording& device, BlockColumns& blocks, FindingList& findings);

    /// Step 1: pairs the events. False when cancelled.
    [[nodiscard]] bool pairEvents(const Progress& progress);

    /// Step 2: adds the blocks that are older than the trace, and compares what the trace leaves live with
    /// the end state. With `endKnown` false the end state is not looked at: the base state tells of older
    /// blocks where the recording has one, else frees alone.
    void addOlderBlocks(bool endKnown);

    [[nodiscard]] const std::array<std::int64_t, kActionCount>& actionCounts() const { return m_counts; }
    [[nodiscard]] const RelativeCurve& requested() const { return m_requested; }
    [[nodiscard]] const RelativeCurve& reserved() const { return m_reserved; }
    [[nodiscard]] std::int64_t requestedAtStart() const { return m_requestedAtStart; }
    [[nodiscard]] std::int64_t pendingAtStart() const { return m_pendingAtStart; }
    [[nodiscard]] std::int64_t freeWithoutAlloc() const
    {
        return static_cast<std::int64_t>(m_olderFrees.size());
    }
    [[nodiscard]] std::int64_t allocOverLive() const
    {
        return static_cast<std::int64_t>(m_overwritten.size());
    }
    [[nodiscard]] std::int64_t liveNotInSegments() const { return m_liveNotInSegments; }

    /// Blocks that ended because an alloc took their address: (that alloc, block), in event order.
    [[nodiscard]] const std::vector<std::pair<std::uint32_t, BlockId>>& overwritten() const
    {
        return m_overwritten;
    }
    /// By row - olderFrom: blocks older than the trace whose address the trace used before, so that they
    /// cannot have been there all the time. Each has a finding.
    [[nodiscard]] const std::vector<bool>& contradicted() const { return m_contradicted; }

private:
    struct AddressHash {
        using is_avalanching = void;
        std::uint64_t key;
        std::size_t operator()(std::uint64_t address) const;
    };
    /// What is known of an address, at the moment that the pass has reached.
    struct AddressState {
        BlockId live;
        PoolIndex pool = kNoIndex; ///< of the final segment that holds it
        bool used = false; ///< the trace allocated or freed here
        bool inEndState = false;
    };
    struct OlderFree {
        std::uint32_t event;
        EventId request;
        bool contradicted;
    };

    AddressState& stateOf(std::uint64_t address);
    void countActions();
    void addRows();
    void onAlloc(
        std::uint32_t e, std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream);
    void onFreeRequested(std::uint32_t e, std::uint64_t address, std::int64_t bytes);
    void onFreeCompleted(std::uint32_t e, std::uint64_t address, std::int64_t bytes);
    void checkFreeSize(std::uint32_t e, BlockId block, std::int64_t bytes);
    BlockId addOlder(std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream,
        PoolIndex pool, bool contradicted);
    [[nodiscard]] const FinalBlock* baseBlockAt(std::uint64_t address) const;
    void addFreedBlocks();
    void addBlocksOfTheEnd();
    void addBlocksOfTheBase();
    void addBlockOfTheBase(const FinalSegment& segment, const FinalBlock& base);
    void joinWithEndState(BlockId block, const FinalBlock& final);
    void reportUnmatched();

    DeviceRecording& m_device;
    BlockColumns& m_blocks;
    FindingList& m_findings;
    /// Where the rows of the allocs go: the chunk of each column that is being filled.
    struct Rows {
        std::uint64_t* address = nullptr;
        std::int64_t* requestedBytes = nullptr;
        EventId* alloc = nullptr;
        StackId* stack = nullptr;
        StreamIndex* stream = nullptr;
        PoolIndex* pool = nullptr;
    } m_rows;
    std::uint32_t m_nextRow = 0;
    std::uint64_t m_lastAddress = 0; // of the last free_requested
    AddressState* m_lastState = nullptr; // its state, until an address is added
    boost::unordered_flat_map<std::uint64_t, AddressState, AddressHash> m_addresses;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t, AddressHash>
        m_requestsOfOlder; // address -> free_requested that no free_completed has followed yet
    std::vector<OlderFree> m_olderFrees;
    std::vector<std::pair<std::uint32_t, BlockId>> m_overwritten;
    std::vector<bool> m_contradicted;
    std::array<std::int64_t, kActionCount> m_counts{};
    RelativeCurve m_requested, m_reserved;
    std::int64_t m_requestedAtStart = 0;
    std::int64_t m_pendingAtStart = 0;
    std::int64_t m_liveNotInSegments = 0;
    bool m_completedWithoutRequest = false; // of a block of the trace
};

} // namespace strata::model
