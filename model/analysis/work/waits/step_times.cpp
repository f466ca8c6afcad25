// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/waits/step_times.h"

#include "model/analysis/work/waits/wait_causes.h"
#include "model/base/wrap.h"

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

std::int64_t warmupsOf(std::span<const ProfilerStep> steps)
{
    if (steps.empty())
        return 0;
    const std::size_t half = std::max<std::size_t>(steps.size() / 2, 1);
    std::vector<std::int64_t> later;
    for (const ProfilerStep& step : steps.subspan(std::min(half, steps.size() - 1)))
        later.push_back(step.time.ns());
    const double most = kWarmupTimes * static_cast<double>(spreadOf(std::move(later)).median);
    std::size_t warmups = steps.front().number <= kFirstStepNumber ? 1 : 0;
    while (warmups<half&& static_cast<double>(steps[warmups].time.ns())> most)
        ++warmups;
    return static_cast<std::int64_t>(warmups);
}

void describeSteps(std::vector<ProfilerStep>& steps, const Work& work, const StringTable& strings)
{
    if (steps.empty())
        return;
    std::vector<TimeSpan> compiling, loading;
    bool hasOperators = false, isLastEmpty = steps.size() > 1;
    const TimeSpan last = steps.back().time;
    for (const WorkSpan& span : work.spans) {
        if (span.kind != WorkKind::Annotation && span.kind != WorkKind::Operator)
            continue;
        if (span.kind == WorkKind::Operator) {
            hasOperators = hasOperators || span.endNs() > steps.front().time.beginNs;
            isLastEmpty = isLastEmpty && (span.endNs() <= last.beginNs || span.startNs >= last.endNs);
        }
        const std::string_view name = strings[span.name];
        if (name.ends_with(" (dynamo_timed)"))
            compiling.push_back({ span.startNs, span.endNs() });
        else if (isLoaderWait(name))
            loading.push_back({ span.startNs, span.endNs() });
    }
    const CoveredTime compiled(unionOf(std::move(compiling))), loaded(unionOf(std::move(loading)));
    steps.back().isEmpty = isLastEmpty && hasOperators;
    const auto warmups = static_cast<std::size_t>(
        warmupsOf(std::span(steps).first(steps.size() - (steps.back().isEmpty ? 1 : 0))));
    for (std::size_t i = 0; i < steps.size(); ++i) {
        steps[i].compileNs = compiled.within(steps[i].time);
        steps[i].loadingNs = loaded.within(steps[i].time);
        steps[i].warmsUp = i < warmups;
    }
}

std::optional<StepTimes> stepTimesOf(std::span<const ProfilerStep> steps)
{
    if (steps.empty())
        return std::nullopt;
    StepTimes times;
    std::vector<std::int64_t> steady, tails;
    for (const ProfilerStep& step : steps) {
        if (step.isEmpty)
            continue;
        if (step.warmsUp) {
            ++times.warmups;
            times.warmupNs = wrapAdd(times.warmupNs, step.time.ns());
        } else {
            steady.push_back(step.time.ns());
            if (step.tailNs)
                tails.push_back(*step.tailNs);
        }
        times.compiling += step.compileNs > 0 ? 1 : 0;
        times.compileNs = wrapAdd(times.compileNs, step.compileNs);
    }
    times.steady = std::ssize(steady);
    times.steadyNs = spreadOf(std::move(steady));
    times.tailed = std::ssize(tails);
    times.tailNs = spreadOf(std::move(tails));
    return times;
}

std::optional<std::int64_t> aboveMedianNs(const ProfilerStep& step, const StepTimes& times)
{
    return times.steady > 0 && !step.isEmpty ? std::optional(step.time.ns() - times.steadyNs.median)
                                             : std::nullopt;
}

std::optional<double> shareAboveMedian(const ProfilerStep& step, const StepTimes& times)
{
    const auto more = aboveMedianNs(step, times);
    return more && times.steadyNs.median > 0
        ? std::optional(static_cast<double>(*more) / static_cast<double>(times.steadyNs.median))
        : std::nullopt;
}

} // namespace strata::model
