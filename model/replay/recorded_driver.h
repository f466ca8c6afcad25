// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/replay/allocator_driver.h"
#include "model/replay/replay_cursor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace strata::model {

/// What the recording says that CUDA did, as the driver of a replay: each call must be the event at the
/// cursor, which must outlive it. Not thread-safe.
class RecordedDriver final : public AllocatorDriver {
public:
    struct KnownRange {
        AddressRange range;
        std::uint64_t mappedEnd = 0; ///< the farthest
        std::uint64_t stream = 0;
    };

    /// `rank`: of StartState's origins. `completeFrees` completes those that end at the cursor, while the
    /// allocator waits for its streams.
    RecordedDriver(ReplayCursor& cursor, std::int64_t rangeBytes, std::span<const std::int32_t> rank,
        std::function<void()> completeFrees);

    /// A block of an expandable segment that was mapped before the recording began.
    void addMapped(const ReplayBlock& block);
    [[nodiscard]] const std::vector<KnownRange>& ranges() const { return m_ranges; }
    /// As they were once; what was told of their size since is forgotten.
    void setRanges(std::vector<KnownRange> ranges)
    {
        m_ranges = std::move(ranges);
        m_rangeBytesAtMost.reset();
    }
    /// Pairs of origins of which the recording took the first where the replay had the second in front of it.
    [[nodiscard]] const std::set<std::pair<std::int32_t, std::int32_t>>& learned() const { return m_learned; }
    /// Where the recording had no room in a range in which the replay had some: what ranges hold at most.
    [[nodiscard]] std::optional<std::int64_t> rangeBytesAtMost() const { return m_rangeBytesAtMost; }

    std::optional<std::uint64_t> makeSegment(std::int64_t bytes, std::uint64_t stream) override;
    void freeSegment(const ReplayBlock& segment) override;
    AddressRange reserveRange(std::int64_t pageBytes, std::uint64_t stream) override;
    void releaseRange(const AddressRange& range) override;
    bool map(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void unmap(std::uint64_t address, std::int64_t bytes, std::uint64_t stream) override;
    void synchronize(CachingAllocator&, PoolOwner) override { m_completeFrees(); }
    ReplayBlock& chooseOfUnknownOrder(ReplayBlock& first) override;
    ReplayBlock& chooseLastOfUnknownOrder(ReplayBlock& last) override;

private:
    [[nodiscard]] std::int32_t originOf(const ReplayBlock& block) const;
    [[nodiscard]] std::optional<std::uint64_t> firstMappedOutside(
        std::int64_t pageBytes, std::uint64_t stream) const;

    ReplayCursor& m_cursor;
    std::int64_t m_rangeBytes;
    std::vector<std::int32_t> m_originOf; // by place
    std::function<void()> m_completeFrees;
    std::vector<KnownRange> m_ranges;
    std::optional<std::int64_t> m_rangeBytesAtMost;
    std::size_t m_nowhere = 0; // ranges of which nothing is ever mapped
    std::set<std::pair<std::int32_t, std::int32_t>> m_learned;
};

} // namespace strata::model
