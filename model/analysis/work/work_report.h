// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/costs/roofline.h"
#include "model/analysis/work/device/device_work.h"
#include "model/analysis/work/device/launches.h"
#include "model/analysis/work/waits/wait_causes.h"
#include "model/analysis/work/work_tables.h"
#include "model/base/sentence.h"
#include "model/trace/recording.h"

#include <optional>
#include <vector>

namespace strata::model {

/// What is said of work: of all of it, or of a range. Rows refer to the strings of its recording.
struct WorkReport {
    std::optional<TimeSpan> range; ///< that was asked for
    std::vector<DeviceWork> devices;
    std::vector<DeviceWork> judged; ///< the same, of what the verdict is about: see WaitTimes::range
    std::vector<ProfilerStep> steps; ///< those that the range touches, described
    WaitTimes waits;
    LaunchCounts launches;
    WorkTables tables;
    Roofline roofline;
};

/// More launches whose work is lost than this share are told of in the verdict, since the end of a trace
/// leaves some; so are more that were captured.
inline constexpr double kLostLaunchShare = 0.05;

/// Rows of operators are apart as `by` says. O(n log n).
[[nodiscard]] WorkReport workReportOf(const Work& work, const StringTable& strings,
    const std::optional<TimeSpan>& range = {}, OperatorsBy by = OperatorsBy::Name);

/// Collectives that run alone for more than this of the time are told of in the verdict.
inline constexpr double kExposedShare = 0.05;

/// How busy the device is, and, unless it is kept busy, why not and what would help. Where more than
/// kDenseShare of the steps, or of the range, lies before its first or behind its last work, it says so.
/// Shares are of WaitTimes::range throughout. Then collectives that nothing hides, of more than kExposedShare
/// of it, and launches of which no work is told, captured or lost, each of more than kLostLaunchShare of all.
/// Of a simulated device, whose times are not a real one's, no more than that. `recording`: whose work it is.
[[nodiscard]] std::vector<Sentence> verdictOf(const WorkReport& report, const Recording& recording);

/// The time that idle times are shares of: "the steps, which took 1.2 s".
[[nodiscard]] Sentence sayRangeOf(const WorkReport& report);

/// What the steps took: the first one, which warms up and compiles, apart from the others. Empty: there are
/// none.
[[nodiscard]] std::vector<Sentence> sayStepsOf(const WorkReport& report);

/// What an own recording did not see, or a trace holds that is none, of all of it: empty where that is all.
[[nodiscard]] std::vector<Sentence> sayLossesOf(const Work& work);
[[nodiscard]] std::string_view workLossWord(WorkLoss::Why why); ///< "no_room"

} // namespace strata::model
