// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/step_times.h"

#include <algorithm>

namespace strata::model {

Spread spreadOf(std::vector<std::int64_t> values)
{
    if (values.empty())
        return {};
    std::ranges::sort(values);
    const auto at = [&](std::size_t quarters) { // the smallest that as many quarters of them do not exceed
        return values[std::max<std::size_t>((quarters * values.size() + 3) / 4, 1) - 1];
    };
    return { values.front(), at(1), at(2), at(3), values.back() };
}

std::optional<StepTimes> stepTimesOf(std::span<const ProfilerStep> steps)
{
    if (steps.empty())
        return std::nullopt;
    std::vector<std::int64_t> all;
    for (const ProfilerStep& step : steps)
        all.push_back(step.time.ns());
    const std::size_t half = std::max<std::size_t>(all.size() / 2, 1);
    const auto usual = static_cast<double>(
        spreadOf({ all.begin() + static_cast<std::ptrdiff_t>(std::min(half, all.size() - 1)), all.end() })
            .median);
    std::size_t warmups = 1;
    while (warmups<half&& static_cast<double>(all[warmups])> kWarmupTimes * usual)
        ++warmups;
    StepTimes times;
    times.warmups = static_cast<std::int64_t>(warmups);
    for (std::size_t i = 0; i < warmups; ++i)
        times.warmupNs += all[i];
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(warmups));
    times.steady = std::ssize(all);
    times.steadyNs = spreadOf(std::move(all));
    return times;
}

} // namespace strata::model
