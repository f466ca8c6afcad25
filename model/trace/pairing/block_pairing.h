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
#include <optional>
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

/// Blocks that ended because an alloc took their address: (that alloc, block), in event order.
using OverwrittenBlocks = Column<std::pair<std::uint32_t, BlockId>, 12>;

/// What the blocks older than the trace add up to.
struct OlderBlocks {
    std::int64_t requestedBytes = 0;
    std::int64_t pendingBytes = 0; ///< the part that waited for another stream when the trace began
    /// By row: those whose address the trace used before, so that they cannot have been there all the time.
    /// Each has a finding.
    std::vector<bool> contradicted;
};

/// Frees of blocks older than the trace whose address nothing contradicts.
struct OlderFrees {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
    EventIndex first = -1;
};

/// Turns the base state of a device and the allocs and frees of its trace into block lifetimes, and tells
/// every event which block it is of; as the trace grows, for what each new event costs. One hash probe an
/// event; memory grows with the number of distinct addresses, not of events. The hash is keyed at random, so
/// that crafted addresses cannot make it slow.
class BlockPairing {
public:
    BlockPairing(BlockColumns& blocks, FindingList& findings);

    /// Adds the blocks of the base state. Before the first event.
    void begin(const DeviceRecording& device);

    /// Pairs the events that the device has behind those of the last call. False when cancelled: then it is
    /// of no more use.
    [[nodiscard]] bool append(const Recording& recording, DeviceRecording& device, const Progress& progress);

    /// The device has other final segments than before, which tell the pools.
    void takePools(const DeviceRecording& device);

    [[nodiscard]] const std::array<std::int64_t, kActionCount>& actionCounts() const { return m_counts; }
    [[nodiscard]] std::int64_t count(Action action) const
    {
        return m_counts[static_cast<std::size_t>(action)];
    }
    [[nodiscard]] const RelativeCurve& requested() const { return m_requested; }
    [[nodiscard]] const RelativeCurve& reserved() const { return m_reserved; }
    [[nodiscard]] std::int64_t freeWithoutAlloc() const { return m_freeWithoutAlloc; }
    [[nodiscard]] const OverwrittenBlocks& overwritten() const { return m_overwritten; }
    [[nodiscard]] const OlderBlocks& older() const { return m_older; }
    [[nodiscard]] const OlderFrees& olderFrees() const { return m_olderFrees; }
    /// The last append() changed what events before it add to the curve of pending frees: it found out which
    /// block they were of, or that this recorder tells of no free_requested.
    [[nodiscard]] bool changedEarlierEvents() const { return m_changedEarlierEvents; }

    /// What is known of an address after the last event.
    struct AddressState {
        BlockId live;
        PoolIndex pool = kNoIndex; ///< of the final segment that holds it
        bool used = false; ///< the trace allocated or freed here
    };
    [[nodiscard]] AddressState at(std::uint64_t address) const;
    /// The free_requested of a block there that nothing else has told of; none.
    [[nodiscard]] EventId requestAt(std::uint64_t address) const;
    /// All of those: (event, address), in event order.
    [[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint64_t>> requests() const;

private:
    struct AddressHash {
        using is_avalanching = void;
        std::uint64_t key;
        std::size_t operator()(std::uint64_t address) const;
    };
    template <class Value> using ByAddress = boost::unordered_flat_map<std::uint64_t, Value, AddressHash>;

    AddressState& stateOf(std::uint64_t address);
    void countActions();
    void addRows();
    void onAlloc(
        std::uint32_t e, std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream);
    void onFreeRequested(std::uint32_t e, std::uint64_t address, std::int64_t bytes);
    void onFreeCompleted(std::uint32_t e, std::uint64_t address, std::int64_t bytes);
    void onFreeOfUnknown(std::uint32_t e, std::uint64_t address, std::int64_t bytes, AddressState& state);
    void countOlderFree(std::uint32_t e, std::int64_t bytes);
    void checkFreeSize(std::uint32_t e, BlockId block, std::int64_t bytes);
    BlockId addOlder(std::uint64_t address, std::int64_t bytes, StackId stack, StreamIndex stream,
        PoolIndex pool, bool contradicted);
    void settlePending();
    [[nodiscard]] StackId allocationOf(StackId stackOfFree);

    const Recording* m_recording = nullptr; // during a call
    DeviceRecording* m_device = nullptr; // during a call
    const std::vector<FinalSegment>* m_finalSegments = nullptr; // likewise
    BlockColumns& m_blocks;
    FindingList& m_findings;
    /// Where the rows of the allocs go: the place of row m_firstRow in each column.
    struct Rows {
        std::uint64_t* address = nullptr;
        std::int64_t* requestedBytes = nullptr;
        EventId* alloc = nullptr;
        StackId* stack = nullptr;
        StreamIndex* stream = nullptr;
        PoolIndex* pool = nullptr;
    } m_rows;
    std::uint32_t m_firstRow = 0;
    std::uint32_t m_endRow = 0; // of those that m_rows has room for
    std::uint32_t m_nextRow = 0;
    std::uint32_t m_nextEvent = 0;
    std::uint32_t m_appendedFrom = 0;
    std::uint64_t m_lastAddress = 0; // of the last free_requested
    AddressState* m_lastState = nullptr; // its state, until an address is added
    ByAddress<AddressState> m_addresses;
    ByAddress<std::uint32_t> m_requestsOfOlder; // free_requested that no free_completed has followed yet
    OverwrittenBlocks m_overwritten;
    OlderBlocks m_older;
    OlderFrees m_olderFrees;
    enum class StackOf : std::uint8_t { NotLookedAt, Allocation, Free };
    std::vector<StackOf> m_stacksOfFrees; // by StackId
    std::vector<std::uint32_t> m_unrequested; // rows of older blocks freed without a request
    std::size_t m_settled = 0; // of these
    bool m_tellsRequests = true; // as far as settled
    std::array<std::int64_t, kActionCount> m_counts{};
    RelativeCurve m_requested, m_reserved;
    std::int64_t m_freeWithoutAlloc = 0;
    bool m_completedWithoutRequest = false; // of a block of the trace
    bool m_changedEarlierEvents = false;
};

/// Compares what the trace leaves live with the end state, and adds the blocks that the end state alone tells
/// of. `device` and `blocks` may be copies of those that were paired.
struct EndStateJoin {
    OlderBlocks older; ///< with those of the pairing
    std::int64_t liveNotInSegments = 0;
    bool changedEvents = false; ///< found out which block some free_requested were of
    bool changedRows = false; ///< gave blocks that the pairing knew a stack
};
[[nodiscard]] EndStateJoin joinWithEndState(
    const BlockPairing& pairing, DeviceRecording& device, BlockColumns& blocks, FindingList& findings);

/// The final segment that holds an address; nullptr if none does. O(log segments).
[[nodiscard]] const FinalSegment* segmentOf(const std::vector<FinalSegment>& segments, std::uint64_t address);

} // namespace strata::model
