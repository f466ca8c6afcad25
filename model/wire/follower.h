// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/wire/digest_codec.h"
#include "model/wire/state.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace strata::wire {

/// Makes the digest of a device while its events are written: one pass, memory for the blocks that are live.
/// It gives none, rather than a wrong one, as soon as events and states do not agree to the byte: an alloc
/// over a live block, a free of what is not there, an end state that differs. One thread. O(log live blocks)
/// an event, O(stacks) an out-of-memory.
class Follower {
public:
    /// What was there before the first event; an empty state where there was nothing. Events that come before
    /// this wait for it.
    void begin(const State& base);
    void add(const EventRow& row);
    /// Events were lost, or the state is not to be had: there will be no digest.
    void giveUp();

    /// Once all events are in. `chunks` and `chain` are left for whoever writes it. None: the events and the
    /// states do not agree.
    [[nodiscard]] std::optional<Digest> finish(const State& end);

private:
    struct Block {
        std::int64_t bytes = 0; ///< requested
        std::int64_t born = -1; ///< event; -1: before the first
        std::uint32_t stack = kNone;
        bool pending = false;
    };
    using Blocks = std::map<std::uint64_t, Block>;

    /// Sums of a stack, now and at the last peak: `before` holds what it was before its first change after
    /// the peak number `changedAfter`.
    struct Sum {
        std::int64_t bytes = 0, blocks = 0;
        std::int64_t bytesBefore = 0, blocksBefore = 0;
        std::uint64_t changedAfter = 0;
    };

    void follow(const EventRow& row);
    void onAlloc(const EventRow& row, std::int64_t event);
    void onFreeRequested(const EventRow& row);
    void onFreeCompleted(const EventRow& row, std::int64_t event);
    void onMapped(const EventRow& row, std::int64_t event);
    void onUnmapped(const EventRow& row);
    void onOutOfMemory(const EventRow& row, std::int64_t event);
    void addBlock(std::uint64_t address, const Block& block);
    void map(std::uint64_t begin, std::int64_t bytes);
    void setPeak();
    void change(std::uint32_t stack, std::int64_t bytes, std::int64_t blocks);
    [[nodiscard]] std::vector<StackSum> sumsNow() const;
    [[nodiscard]] std::vector<StackSum> sumsAtPeak() const;
    [[nodiscard]] bool agreesWith(const State& end);

    bool m_begun = false, m_failed = false;
    std::vector<EventRow> m_early; // before begin()
    Blocks m_live;
    Blocks::node_type m_spare; // of the block freed last: the next alloc takes it
    Blocks::iterator m_requested{}; // of the last free_requested, if m_hasRequested
    bool m_hasRequested = false;
    std::map<std::uint64_t, std::uint64_t> m_mapped; // begin -> end, disjoint
    std::vector<Sum> m_sums; // by stack, the first for blocks without one
    std::uint64_t m_peaks = 1; // how many peaks there were, so that 0 means "before all"
    std::int64_t m_requestedNow = 0, m_reservedNow = 0, m_olderNow = 0, m_pendingNow = 0;
    std::int64_t m_leastNow = 0; // rounded bytes that the live blocks take at least
    std::int64_t m_quietFrom = 0; // the first event behind the last one that moved memory
    std::int64_t m_lastTimeNs = 0;
    Digest m_digest;
    std::vector<std::int64_t> m_leastAtOom; // of m_digest.outOfMemory
};

} // namespace strata::wire
