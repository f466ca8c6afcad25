// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

namespace strata::model {

/// From the first nanosecond on, up to before the last.
struct TimeSpan {
    std::int64_t beginNs = 0, endNs = 0;

    [[nodiscard]] std::int64_t ns() const { return endNs > beginNs ? endNs - beginNs : 0; }
    friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// Times that do not touch each other, in their order.
using Times = std::vector<TimeSpan>;

/// The union of spans in any order; empty ones are left out. O(n log n).
[[nodiscard]] Times unionOf(std::vector<TimeSpan> spans);
/// What is in both. O(a + b). So is the next.
[[nodiscard]] Times intersectionOf(const Times& a, const Times& b);
/// What is in `a` and not in `b`.
[[nodiscard]] Times differenceOf(const Times& a, const Times& b);
[[nodiscard]] std::int64_t lengthOf(const Times& times);

} // namespace strata::model
