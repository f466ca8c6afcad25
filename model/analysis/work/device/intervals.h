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

/// How much of any stretch lies in given times.
class CoveredTime {
public:
    CoveredTime() = default;
    explicit CoveredTime(Times times);

    [[nodiscard]] std::int64_t within(const TimeSpan& span) const; ///< nanoseconds. O(log n)

private:
    [[nodiscard]] std::int64_t upTo(std::int64_t ns) const;

    Times m_times;
    std::vector<std::int64_t> m_before; // of each, the length of those before it
};

} // namespace strata::model
