// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/leaks/leak_series.h"

#include <algorithm>
#include <cmath>

namespace strata::model {

namespace {

// Below these, what grows is not told from what happens to be there: tests/truth/tests/test_leaks.py.
constexpr std::size_t kFewestPoints = 5;

std::vector<double> thinned(const StepSeries& series, std::size_t most)
{
    std::vector<double> points;
    const std::size_t count = std::min(series.size(), most);
    for (std::size_t i = 0; i < count; ++i)
        points.push_back(series[count < 2 ? 0 : i * (series.size() - 1) / (count - 1)]);
    return points;
}

} // namespace

double medianSlope(const StepSeries& series, std::size_t most)
{
    const std::vector<double> points = thinned(series, most);
    if (points.size() < 2)
        return 0;
    const double step = static_cast<double>(series.size() - 1) / static_cast<double>(points.size() - 1);
    std::vector<double> slopes;
    slopes.reserve(points.size() * (points.size() - 1) / 2);
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j)
            slopes.push_back((points[j] - points[i]) / (static_cast<double>(j - i) * step));
    const auto middle = slopes.begin() + static_cast<std::ptrdiff_t>(slopes.size() / 2);
    std::ranges::nth_element(slopes, middle);
    return *middle;
}

double trendOf(const StepSeries& series, std::size_t most)
{
    std::vector<double> points = thinned(series, most);
    const auto n = static_cast<double>(points.size());
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i)
        for (std::size_t j = i + 1; j < points.size(); ++j)
            sum += static_cast<double>(points[j] > points[i]) - static_cast<double>(points[j] < points[i]);
    double variance = n * (n - 1) * (2 * n + 5);
    std::ranges::sort(points);
    for (std::size_t i = 0, next = 0; i < points.size(); i = next) {
        while (next < points.size() && points[next] == points[i])
            ++next;
        const auto ties = static_cast<double>(next - i);
        variance -= ties * (ties - 1) * (2 * ties + 5);
    }
    variance /= 18;
    return variance > 0 && sum != 0 ? (sum - (sum > 0 ? 1 : -1)) / std::sqrt(variance) : 0;
}

/// What is quickly looked at comes first: of many sites few grow.
bool growsThroughout(const StepSeries& series, double drawdown, std::size_t most)
{
    if (series.size() < kFewestPoints)
        return false;
    const std::size_t last = series.size() - 1, windows = std::clamp<std::size_t>(last / 3, 3, 6);
    std::size_t grew = 0;
    for (std::size_t i = 0; i < windows; ++i)
        grew += series[last * (i + 1) / windows] > series[last * i / windows];
    if (grew + (windows >= 5 ? 1 : 0) < windows)
        return false;
    const std::size_t middle = last / 2;
    const double early = (series[middle] - series[0]) / std::max<double>(1, static_cast<double>(middle));
    const double late = (series[last] - series[middle]) / static_cast<double>(last - middle);
    if (late < early / 2)
        return false;
    const auto [back, highest] = series.deepestDrop();
    return back <= drawdown * highest && trendOf(series, most) >= kTrend;
}

double medianSlope(std::span<const double> series)
{
    return medianSlope(StepSeries(series));
}

double trendOf(std::span<const double> series)
{
    return trendOf(StepSeries(series));
}

bool growsThroughout(std::span<const double> series, double drawdown)
{
    return growsThroughout(StepSeries(series), drawdown);
}

} // namespace strata::model
