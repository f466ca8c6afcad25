// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/trace/pairing/segment_lives.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// Finds the segment that holds an address at an instant, in O(log² n) whatever the recording does: a segment
/// tree over time (Bentley 1977). Each life is an entry of the O(log n) nodes that make up its time; on the
/// way from an instant's leaf to the root lie exactly the lives of that instant.
///
///     root    |----------------- lives that last from first to last ----------------|
///             |-------- of the first half --------|-------- of the second -----------|
///     leaves  |  between two neighbouring births or deaths  |  ...
///
/// Lives of one node are all there at once, so their address ranges are disjoint and the nearest one below an
/// address is the only one that can hold it. A damaged recording may have lives that overlap: each entry then
/// knows the one that reaches farthest up to there.
class SegmentIndex {
public:
    SegmentIndex() = default; ///< of no lives
    /// Of those in `rows`, which stand as isBefore() says. O(n log n) time and, at most, entries of 4 bytes.
    SegmentIndex(const SegmentLives::Rows& lives, std::span<const std::uint32_t> rows);

    /// The row of a life whose range holds `address` after event `at`. `lives` as in the constructor, or
    /// grown. Where several do, which a sound recording does not have, one of them, the same each time.
    [[nodiscard]] std::optional<std::uint32_t> find(
        const SegmentLives::Rows& lives, std::uint64_t address, EventIndex at) const;

    [[nodiscard]] std::size_t bytesResident() const;

private:
    std::vector<EventIndex> m_instants; // births and deaths, ascending: leaf i ends before m_instants[i]
    std::vector<std::uint32_t> m_firstEntry{ 0, 0, 0 }; // of each node, and behind the last
    std::vector<std::uint32_t> m_entries; // rows of lives, by node, then address
    std::vector<std::uint32_t> m_reach; // of each entry: the row with the highest end up to it; empty: itself
};

} // namespace strata::model
