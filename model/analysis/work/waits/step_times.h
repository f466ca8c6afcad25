// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/device/device_work.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace strata::model {

/// How a figure lies over steps, or over ranks. Quartiles by the nearest rank: each is one of the values, the
/// median of an even number the lower of the two in the middle.
struct Spread {
    std::int64_t least = 0, lower = 0, median = 0, upper = 0, most = 0;

    friend bool operator==(const Spread&, const Spread&) = default;
};
[[nodiscard]] Spread spreadOf(std::vector<std::int64_t> values); ///< of none: zeros. O(n log n)

/// What steps took, in nanoseconds. A program's first one compiles and warms up, and so do those behind it
/// that take more than kWarmupTimes of the median of the later half: they are apart. The first that is here
/// is the program's first unless its number says otherwise: schedules of torch.profiler begin with later
/// ones.
struct StepTimes {
    std::int64_t warmups = 0; ///< steps, the program's first one among them
    std::int64_t warmupNs = 0; ///< of all of them together
    std::int64_t steady = 0; ///< steps behind them
    Spread steadyNs;
    std::int64_t compiling = 0; ///< steps in which torch.compile compiles, wherever they stand
    std::int64_t compileNs = 0; ///< of all of them together
    std::int64_t tailed = 0; ///< steady steps with a tail: see describeTails()
    Spread tailNs; ///< of those
};
inline constexpr double kWarmupTimes = 1.5;
inline constexpr std::int64_t kFirstStepNumber = 1; ///< programs count from 0 or from 1

/// Of all steps of a run in their order: how many of them warm up. O(n log n).
[[nodiscard]] std::int64_t warmupsOf(std::span<const ProfilerStep> steps);

/// Says of all steps of a run which of them warm up, whether the last one is empty, and for how long each
/// compiles and waits for data. Dynamo and Inductor bear "(dynamo_timed)" in the names of what they tell the
/// profiler (dynamo_timed() of torch/_dynamo/utils.py, since PyTorch 2.0). O(rows + n log n).
void describeSteps(std::vector<ProfilerStep>& steps, const Work& work, const StringTable& strings);

/// Of steps that were described, all or some in their order, but for an empty one; nothing: there are none.
[[nodiscard]] std::optional<StepTimes> stepTimesOf(std::span<const ProfilerStep> steps);
/// By how much a step takes longer than the median of the steady ones, and of what share of that; nothing:
/// there are none.
[[nodiscard]] std::optional<std::int64_t> aboveMedianNs(const ProfilerStep& step, const StepTimes& times);
[[nodiscard]] std::optional<double> shareAboveMedian(const ProfilerStep& step, const StepTimes& times);

} // namespace strata::model
