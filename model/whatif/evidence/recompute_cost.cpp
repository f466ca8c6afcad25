// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/recompute_cost.h"

#include "model/analysis/work/device/launches.h"
#include "model/trace/work.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace strata::model {

std::string_view measureWord(RecomputeMeasure measure)
{
    return measure == RecomputeMeasure::KernelTime ? "kernels" : "bytes";
}

RecomputeCost::RecomputeCost(const DeviceTrace& trace, const DeepStep& step)
    : m_clock(trace)
    , m_begin(step.beginEvent)
{
    if (takeKernels(trace, step)) {
        m_measure = RecomputeMeasure::KernelTime;
        return;
    }
    m_sums.push_back(0);
    const EventColumns& events = trace.events();
    for (EventIndex event = step.beginEvent; event < step.endEvent; ++event) {
        const auto row = static_cast<std::size_t>(event);
        const BlockId block = events.block[row];
        const bool asks = events.action[row] == Action::Alloc && trace.blocks().contains(block);
        m_sums.push_back(m_sums.back() + (asks ? trace.blocks().requestedBytes[block] : 0));
    }
}

bool RecomputeCost::takeKernels(const DeviceTrace& trace, const DeepStep& step)
{
    const Work* const work = trace.recording().parts.find<Work>();
    if (work == nullptr || !work->ownRecording || !m_clock.hasTimes() || step.beginEvent >= step.endEvent)
        return false;
    const std::int64_t begin = m_clock.timeNs(step.beginEvent), end = m_clock.timeNs(step.endEvent - 1);
    const Launches launches(*work);
    std::vector<std::pair<std::int64_t, std::int64_t>> kernels; // when they were launched, how long they ran
    for (const WorkSpan& span : work->spans) {
        if (!isDeviceWork(span.kind) || work->lanes[span.lane].device != trace.device())
            continue;
        const WorkSpan* const call = launches.of(span);
        if (call != nullptr && call->startNs >= begin && call->startNs <= end)
            kernels.emplace_back(call->startNs, span.durationNs);
    }
    std::ranges::sort(kernels);
    m_sums.push_back(0);
    for (const auto& [launched, took] : kernels) {
        m_launched.push_back(launched);
        m_sums.push_back(m_sums.back() + took);
    }
    if (m_sums.back() > 0)
        return true;
    m_launched.clear();
    m_sums.clear();
    return false;
}

std::int64_t RecomputeCost::of(const DeepMoment& from, const DeepMoment& to) const
{
    const auto sumBefore = [&](const DeepMoment& moment) {
        std::size_t before = 0;
        if (m_measure == RecomputeMeasure::Bytes) {
            before = static_cast<std::size_t>(
                std::clamp<EventIndex>(moment.event - m_begin, 0, std::ssize(m_sums) - 1));
        } else {
            const std::int64_t time = moment.event < m_clock.eventCount()
                ? m_clock.timeNs(moment.event)
                : std::numeric_limits<std::int64_t>::max();
            before
                = static_cast<std::size_t>(std::ranges::lower_bound(m_launched, time) - m_launched.begin());
        }
        return m_sums[before];
    };
    return std::max<std::int64_t>(sumBefore(to) - sumBefore(from), 0);
}

} // namespace strata::model
