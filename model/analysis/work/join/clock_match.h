// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace strata::model {

/// Something that two recordings of one run both tell of. What has the same key may be the same.
struct ClockMark {
    std::uint64_t key = 0;
    std::int64_t timeNs = 0; ///< on the clock of its recording
};

/// How two clocks lie to each other: the one's time is the other's plus the offset.
struct ClockMatch {
    std::int64_t offsetNs = 0; ///< the median of those of the marks that match
    std::int64_t errorNs = 0; ///< 95 % of them lie no further from it
    std::int64_t matches = 0; ///< marks of the one that the other has too, at that offset
    std::int64_t among = 0; ///< marks of the one that lie within the other's, at that offset
};

/// The offset at which most marks of `one` lie upon a mark of `other` with their key.
///
///     one:            a  b  c a   b c           offsets of all pairs with the same key; the right one is
///     other:   a  b c  a  b  c a   b c  a b     where most of them crowd within kMatchWindowNs
///
/// Programs repeat themselves: the same keys come again with each step. Steps differ in how long they take
/// between their parts, so that one step lies upon another with few of its marks, and upon itself with all.
///
/// Another run of the same program does the same in the same order and nearly at the same pace, so that its
/// marks may lie close too, but as far as chance has it and not as far as a call takes. Half of the matches
/// lay within 0.3 to 1.0 us in 32 pairs of a trace and a snapshot of one run, and within 22 us at best in the
/// 79 of 224 pairs of two runs that would match otherwise (a small training on the simulated device).
///
/// None where fewer than kFewestMatches or than half of the marks of `one` within `other` match, where half
/// of the matches lie further than kMostMedianErrorNs from their offset, or where two places are as good.
/// Marks may be of any order and number: up to 4,000 of `one`, the rarest keys first, look for the place, all
/// measure it. O(n log n).
[[nodiscard]] std::optional<ClockMatch> matchClocks(std::vector<ClockMark> one, std::vector<ClockMark> other);

inline constexpr std::int64_t kMatchWindowNs = 200'000;
inline constexpr std::int64_t kMostMedianErrorNs = 5'000;
inline constexpr std::int64_t kFewestMatches = 8;

} // namespace strata::model
