// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

namespace strata::model {

/// A series of which most values are those before them: what a few blocks take at the ends of many steps.
class StepSeries {
public:
    explicit StepSeries(std::size_t size)
        : m_size(size)
    {
    }
    explicit StepSeries(std::span<const double> values)
        : m_size(values.size())
    {
        for (std::size_t i = 0; i < values.size(); ++i)
            add(i, values[i]);
    }

    /// From `index` on, which is behind those of before.
    void add(std::size_t index, double value)
    {
        if (!m_runs.empty() && m_runs.back().first == index)
            m_runs.pop_back();
        if (m_runs.empty() || m_runs.back().value != value)
            m_runs.push_back({ index, value });
    }

    [[nodiscard]] std::size_t size() const { return m_size; }
    [[nodiscard]] double operator[](std::size_t index) const // O(log n)
    {
        const auto next = std::ranges::upper_bound(m_runs, index, {}, &Run::first);
        return next == m_runs.begin() ? 0 : std::prev(next)->value;
    }
    [[nodiscard]] double back() const { return (*this)[m_size - 1]; }
    [[nodiscard]] StepSeries slice(std::size_t first, std::size_t count) const
    {
        StepSeries slice(count);
        if (count > 0)
            slice.add(0, (*this)[first]);
        for (const Run& run : m_runs)
            if (run.first > first && run.first < first + count)
                slice.add(run.first - first, run.value);
        return slice;
    }
    /// Behind which it never falls; 0 if it does nowhere.
    [[nodiscard]] std::size_t lastDrop() const
    {
        for (std::size_t i = m_runs.size(); i-- > 1;)
            if (m_runs[i].value < m_runs[i - 1].value)
                return m_runs[i].first;
        return 0;
    }
    /// How many values at the end, but for the last, are not below it.
    [[nodiscard]] std::size_t quiet() const
    {
        const double last = back();
        for (std::size_t i = m_runs.size(); i-- > 0;)
            if (m_runs[i].value < last)
                return m_size - 1 - m_runs[i + 1].first;
        return m_size - 1;
    }
    /// How often it is more than before.
    [[nodiscard]] std::uint32_t rises() const
    {
        std::uint32_t count = 0;
        for (std::size_t i = 1; i < m_runs.size(); ++i)
            count += m_runs[i].value > m_runs[i - 1].value;
        return count;
    }
    /// The most that it falls from what was its highest, and that.
    [[nodiscard]] std::pair<double, double> deepestDrop() const
    {
        double highest = (*this)[0], back = 0;
        for (const Run& run : m_runs) {
            highest = std::max(highest, run.value);
            back = std::max(back, highest - run.value);
        }
        return { back, highest };
    }

private:
    struct Run {
        std::size_t first = 0;
        double value = 0;
    };

    std::vector<Run> m_runs; // no two neighbours alike
    std::size_t m_size;
};

/// Points of a long series that are compared with each other; where there are many series, fewer of each.
inline constexpr std::size_t kMostPoints = 200, kFewerPoints = 64;

/// What trendOf() has at least where a series grows: p < 0.005.
inline constexpr double kTrend = 2.6;

/// Median of the slopes of all pairs of points (Theil 1950, Sen 1968); 0 of fewer than two. O(points^2).
[[nodiscard]] double medianSlope(const StepSeries& series, std::size_t most = kMostPoints);
/// The z of the trend test of Mann (1945) and Kendall, ties counted. As above.
[[nodiscard]] double trendOf(const StepSeries& series, std::size_t most = kMostPoints);
/// Whether a series grows all along: a trend, growth in five of six windows, its second half at least half of
/// the first, and never back by more than `drawdown` of its highest.
[[nodiscard]] bool growsThroughout(const StepSeries& series, double drawdown, std::size_t most = kMostPoints);

[[nodiscard]] double medianSlope(std::span<const double> series);
[[nodiscard]] double trendOf(std::span<const double> series);
[[nodiscard]] bool growsThroughout(std::span<const double> series, double drawdown);

} // namespace strata::model
