// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/played_calls.h"
#include "model/replay/trace_check.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace strata::model {

/// One replay of a trace: the recording is the driver. A cursor stands at the next event that is to be
/// explained; requests are made where the recording made them, and each call of the driver must be the event
/// at the cursor.
///
/// Who released memory, a retry of malloc() or empty_cache(), is not always told. A guess is kept until the
/// replay fails; then it goes back to the last checkpoint and takes the other one.
class TraceReplay final : private AllocatorDriver {
public:
    /// The trace and the start state must outlive it.
    TraceReplay(const DeviceTrace& trace, const StartState& start, const TraceCheckOptions& options,
        std::int64_t rangeBytes, std::vector<std::int32_t> rank);

    /// False when cancelled.
    [[nodiscard]] bool run(const Progress& progress);
    [[nodiscard]] TraceCheck& result() { return m_result; }

    /// Pairs of origins of which the recording took the first where the replay had the second in front of it.
    [[nodiscard]] const std::set<std::pair<std::int32_t, std::int32_t>>& learned() const { return m_learned; }

    /// Where the replay took what was free behind an older block and the recording did not, since it is less:
    /// the row of that block, and the least that it has.
    [[nodiscard]] const std::optional<std::pair<std::size_t, std::int64_t>>& leastOfOlder() const
    {
        return m_leastOfOlder;
    }

    /// Where the recording had no room in a range in which the replay had some: what ranges hold at most.
    [[nodiscard]] std::optional<std::int64_t> rangeBytesAtMost() const { return m_rangeBytesAtMost; }

private:
    enum class Releaser : std::uint8_t { Malloc, EmptyCache };
    struct KnownRange {
        AddressRange range;
        std::uint64_t mappedEnd = 0; // the farthest
        std::uint64_t stream = 0;
    };
    struct Checkpoint {
        std::size_t at = 0;
        CachingAllocator allocator;
        RecordedCalls calls;
        ReplayTally tally;
        std::vector<KnownRange> ranges;
    };

    // recorded_driver.cpp
    std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) override;
    void freeSegment(const ReplayBlock& segment) override;
    AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t stream) override;
    void releaseRange(const AddressRange& range) override;
    bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void synchronize(CachingAllocator& allocator, PoolOwner only) override;
    ReplayBlock& chooseOfUnknownOrder(ReplayBlock& first) override;
    ReplayBlock& chooseLastOfUnknownOrder(ReplayBlock& last) override;
    [[nodiscard]] std::int32_t originOf(const ReplayBlock& block) const;
    [[nodiscard]] std::optional<std::uint64_t> firstMappedOutside(
        std::int64_t pageBytes, std::uint64_t stream) const;

    // replay_guesses.cpp
    [[nodiscard]] Releaser releaserOf(std::size_t release, std::size_t malloc);
    [[nodiscard]] bool hadRoom(std::size_t malloc) const;
    void makeCheckpoint();
    [[nodiscard]] bool takeOtherGuess();

    // What the program did.
    void playCalls();
    void step();
    void allocateAt(std::size_t row);
    void requestFree(std::size_t row);
    void completeFree(std::size_t row);
    void segmentEvent();
    void learnTailBefore(const ReplayBlock& taken, std::int64_t rounded);
    void completeBeforeMalloc(std::size_t malloc, std::size_t completionsEnd);
    void releasePoolsOf(std::size_t first, std::size_t last);
    [[nodiscard]] std::optional<PoolOwner> poolThatEnds(std::size_t release) const;

    [[nodiscard]] bool expect(const ComparedEvent& got);
    void differ(const std::optional<ComparedEvent>& got, Sentence cause);
    void compareEnd();

    [[nodiscard]] bool atEnd() const { return m_at >= m_count; }
    [[nodiscard]] Action action(std::size_t row) const { return m_events->action[row]; }
    [[nodiscard]] ComparedEvent recorded(std::size_t row) const;
    [[nodiscard]] std::uint64_t streamAt(std::size_t row) const;
    [[nodiscard]] PoolOwner poolAt(std::size_t row) const;
    [[nodiscard]] ReplayBlock*& blockOf(BlockId id);
    void advance(); ///< over the event at the cursor, and what is none of the allocator's

    const DeviceTrace* m_trace;
    const EventColumns* m_events;
    const StartState* m_start;
    EventPools m_pools;
    std::vector<std::int32_t> m_rank, m_originOf; // by origin; by place
    std::int64_t m_rangeBytes, m_deviceBytes;
    std::size_t m_at = 0, m_count = 0;
    CachingAllocator m_allocator;
    RecordedCalls m_calls;
    TraceCheck m_result;
    std::vector<ReplayBlock*> m_born, m_older; // live ones, by row
    std::vector<KnownRange> m_ranges;
    std::optional<std::int64_t> m_rangeBytesAtMost;
    std::optional<std::pair<std::size_t, std::int64_t>> m_leastOfOlder;
    std::size_t m_nowhere = 0; // ranges of which nothing is ever mapped
    std::set<std::pair<std::int32_t, std::int32_t>> m_learned;
    std::map<std::size_t, Releaser> m_decided; // releases whose releaser was found by failing
    std::vector<std::pair<std::size_t, Releaser>> m_guesses; // since the last checkpoint
    std::optional<Checkpoint> m_checkpoint;
};

} // namespace strata::model
