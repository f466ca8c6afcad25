// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/waits/backward_tail.h"

#include "model/analysis/work/device/launches.h"

#include <algorithm>
#include <map>
#include <utility>

namespace strata::model {

namespace {

constexpr std::string_view kBackward = "autograd::engine::evaluate_function";

/// What was launched in a step.
struct LaunchedWork {
    std::optional<std::int64_t> beginNs; ///< of the first work
    std::optional<std::int64_t> backwardEndNs; ///< of the last kernel of the backward
};

/// The last that begins at or before a time, if that lies in it; its place.
std::optional<std::size_t> stepAt(const std::vector<ProfilerStep>& steps, std::int64_t ns)
{
    const auto behind
        = std::ranges::upper_bound(steps, ns, {}, [](const ProfilerStep& step) { return step.time.beginNs; });
    if (behind == steps.begin() || std::prev(behind)->time.endNs <= ns)
        return std::nullopt;
    return static_cast<std::size_t>(std::prev(behind) - steps.begin());
}

bool coversInstant(const Times& times, std::int64_t ns)
{
    const auto behind = std::ranges::upper_bound(times, ns, {}, &TimeSpan::beginNs);
    return behind != times.begin() && std::prev(behind)->endNs > ns;
}

} // namespace

void describeTails(std::vector<ProfilerStep>& steps, const Work& work, const StringTable& strings)
{
    std::map<LaneIndex, std::vector<TimeSpan>> operators;
    std::vector<TimeSpan> computing, communicating;
    for (const WorkSpan& span : work.spans) {
        const TimeSpan time{ span.startNs, span.endNs() };
        if (span.kind == WorkKind::Kernel) {
            const bool isCollective = useOf(strings[span.name]) == WorkUse::Communication;
            (isCollective ? communicating : computing).push_back(time);
        } else if (span.kind == WorkKind::Operator && strings[span.name].starts_with(kBackward)) {
            operators[span.lane].push_back(time);
        }
    }
    if (steps.empty() || communicating.empty() || operators.empty())
        return;
    std::map<LaneIndex, Times> backward;
    for (auto& [lane, times] : operators)
        backward.emplace(lane, unionOf(std::move(times)));
    const auto isBackward = [&](const WorkSpan& launch) {
        const auto on = backward.find(launch.lane);
        return on != backward.end() && coversInstant(on->second, launch.startNs);
    };

    const Launches launches(work);
    std::vector<LaunchedWork> launched(steps.size());
    for (const WorkSpan& span : work.spans) {
        const WorkSpan* const launch = isDeviceWork(span.kind) ? launches.of(span) : nullptr;
        const auto step = launch ? stepAt(steps, launch->startNs) : std::nullopt;
        if (!step)
            continue;
        LaunchedWork& of = launched[*step];
        of.beginNs = std::min(of.beginNs.value_or(INT64_MAX), span.startNs);
        if (span.kind == WorkKind::Kernel && useOf(strings[span.name]) == WorkUse::Computation
            && isBackward(*launch))
            of.backwardEndNs = std::max(of.backwardEndNs.value_or(INT64_MIN), span.endNs());
    }

    std::int64_t lastNs = INT64_MIN;
    for (const TimeSpan& time : communicating)
        lastNs = std::max(lastNs, time.endNs);
    const CoveredTime alone(differenceOf(unionOf(std::move(communicating)), unionOf(std::move(computing))));
    for (std::size_t i = steps.size(); i-- > 0;) {
        if (launched[i].backwardEndNs)
            steps[i].tailNs = alone.within({ *launched[i].backwardEndNs, lastNs });
        if (launched[i].beginNs)
            lastNs = std::min(lastNs, *launched[i].beginNs);
    }
}

} // namespace strata::model
