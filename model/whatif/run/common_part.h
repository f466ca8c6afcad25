// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace strata::model {

inline constexpr std::uint32_t kNoPartner = UINT32_MAX;

/// The longest common part of two sequences, by Myers' greedy algorithm (An O(ND) Difference Algorithm,
/// 1986): for each of the first its place in the second; kNoPartner. Where they differ in more than 2,000
/// places, or it would take more than a second, what their ends have in common is all. O(length), and
/// O(length x differences) where they differ; D^2 numbers of memory.
[[nodiscard]] std::vector<std::uint32_t> commonPart(
    std::span<const std::int64_t> first, std::span<const std::int64_t> second);

} // namespace strata::model
