// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/device/launches.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

std::uint32_t correlationOf(const WorkSpan* span)
{
    return span->correlation;
}

} // namespace

Launches::Launches(const Work& work)
{
    for (const WorkSpan& span : work.spans)
        if (span.kind == WorkKind::Runtime && span.correlation != 0)
            m_calls.push_back(&span);
    std::ranges::stable_sort(m_calls, {}, correlationOf);
}

const WorkSpan* Launches::of(const WorkSpan& piece) const
{
    if (piece.correlation == 0)
        return nullptr;
    const auto found = std::ranges::lower_bound(m_calls, piece.correlation, {}, correlationOf);
    return found != m_calls.end() && (*found)->correlation == piece.correlation ? *found : nullptr;
}

std::map<LaneIndex, Times> capturesOf(const Work& work, const StringTable& strings)
{
    std::map<LaneIndex, std::vector<const WorkSpan*>> calls;
    const auto contains = [](std::string_view name, std::string_view part) {
        return name.find(part) != std::string_view::npos;
    };
    for (const WorkSpan& span : work.spans)
        if (span.kind == WorkKind::Runtime)
            if (const std::string_view name = strings[span.name]; contains(name, "StreamBeginCapture")
                || contains(name, "StreamEndCapture") || contains(name, "GraphInstantiate"))
                calls[span.lane].push_back(&span);
    std::map<LaneIndex, Times> captures;
    for (auto& [lane, each] : calls) {
        std::ranges::stable_sort(each, {}, &WorkSpan::startNs);
        std::vector<TimeSpan> times;
        const WorkSpan* begun = nullptr;
        for (const WorkSpan* const call : each) {
            const std::string_view name = strings[call->name];
            if (contains(name, "BeginCapture")) {
                begun = call;
            } else if (contains(name, "Instantiate")) {
                times.push_back({ call->startNs, call->endNs() });
            } else if (begun) {
                times.push_back({ begun->startNs, call->endNs() });
                begun = nullptr;
            }
        }
        captures[lane] = unionOf(std::move(times));
    }
    return captures;
}

LaunchCounts launchCountsOf(
    const Work& work, const StringTable& strings, const std::optional<TimeSpan>& range)
{
    boost::unordered_flat_set<std::uint32_t> working; // by correlation
    for (const WorkSpan& span : work.spans)
        if (isDeviceWork(span.kind))
            working.insert(span.correlation);
    std::map<LaneIndex, CoveredTime> captures;
    for (auto& [lane, times] : capturesOf(work, strings))
        captures.emplace(lane, std::move(times));
    // cudaLaunchKernel, cuLaunchKernelEx, cudaLaunchCooperativeKernel, hipExtModuleLaunchKernel,
    // cudaGraphLaunch, cuGraphLaunch
    const auto launches = [](std::string_view name) {
        const std::size_t at = name.find("Launch");
        return at != std::string_view::npos
            && (name.substr(at).find("Kernel") != std::string_view::npos
                || name.find("GraphLaunch") != std::string_view::npos);
    };
    LaunchCounts counts;
    for (const WorkSpan& span : work.spans) {
        if (span.kind != WorkKind::Runtime || span.correlation == 0 || !launches(strings[span.name])
            || (range && (span.startNs < range->beginNs || span.startNs >= range->endNs)))
            continue;
        ++counts.calls;
        if (working.contains(span.correlation))
            continue;
        ++counts.withoutWork;
        const auto captured = captures.find(span.lane);
        if (captured != captures.end() && captured->second.within({ span.startNs, span.startNs + 1 }) > 0)
            ++counts.captured;
    }
    return counts;
}

} // namespace strata::model
