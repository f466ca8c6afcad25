// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/waits/step_times.h"
#include "model/base/answer_fields.h"

namespace strata::model {

template <> struct Fields<Spread> {
    static constexpr std::tuple all{
        field("least_ns", Unit::Nanoseconds, "the shortest", &Spread::least),
        field("lower_ns", Unit::Nanoseconds, "the lower quartile (nearest rank)", &Spread::lower),
        field("median_ns", Unit::Nanoseconds,
            "the median; of an even number the lower of the two in the middle", &Spread::median),
        field("upper_ns", Unit::Nanoseconds, "the upper quartile (nearest rank)", &Spread::upper),
        field("most_ns", Unit::Nanoseconds, "the longest", &Spread::most),
    };
};

template <> struct Fields<StepTimes> {
    static constexpr std::tuple all{
        field("warmups", Unit::Count,
            "the first step, and those after it that take more than 1.5 times the median of the later half",
            &StepTimes::warmups),
        field("warmup_ns", Unit::Nanoseconds, "time of all of `warmups`", &StepTimes::warmupNs),
        field("compiling", Unit::Count, "steps in which torch.compile compiles", &StepTimes::compiling),
        field("compile_ns", Unit::Nanoseconds, "time in which torch.compile compiles, of all steps",
            &StepTimes::compileNs),
        field("steady", Unit::Count, "the other steps, without an empty one at the end", &StepTimes::steady),
        field("steady_ns", Unit::Nanoseconds, "time of a steady step; null: all warm up",
            [](const StepTimes& times) {
                return times.steady > 0 ? std::optional(times.steadyNs) : std::nullopt;
            }),
        field("communication_tail_ns", Unit::Nanoseconds,
            "`communication_tail_ns` of the steady steps; null: none has one",
            [](const StepTimes& times) {
                return times.tailed > 0 ? std::optional(times.tailNs) : std::nullopt;
            }),
    };
};

/// In the context of the times of all steps.
template <> struct Fields<ProfilerStep> {
    static constexpr std::tuple all{
        field("name", Unit::None, "the step as the program names it", &ProfilerStep::name),
        field(
            "start_ns", Unit::Nanoseconds, "when it begins", within(&ProfilerStep::time, &TimeSpan::beginNs)),
        field("duration_ns", Unit::Nanoseconds, "how long it takes",
            [](const ProfilerStep& step) { return step.time.ns(); }),
        field("above_median_ns", Unit::Nanoseconds,
            "how much longer than the median of the steady steps; null: there are none, or it is empty",
            &aboveMedianNs),
        field("gpu_busy_ns", Unit::Nanoseconds,
            "time in which a GPU works; null: no GPU was recorded, or not for all of the step",
            &ProfilerStep::deviceBusyNs),
        field("compile_ns", Unit::Nanoseconds, "time in which torch.compile compiles: `... (dynamo_timed)`",
            &ProfilerStep::compileNs),
        field("loading_ns", Unit::Nanoseconds, "time in which a thread waits for its `DataLoader`",
            &ProfilerStep::loadingNs),
        field("communication_tail_ns", Unit::Nanoseconds,
            "time of collectives alone, from the last kernel of the backward to the next step; null: no "
            "backward or no collectives",
            &ProfilerStep::tailNs),
        field("warms_up", Unit::None, "true: it is one of `warmups`", &ProfilerStep::warmsUp),
        field("empty", Unit::None, "true: the last step, in which no operator runs", &ProfilerStep::isEmpty),
    };
};

} // namespace strata::model
