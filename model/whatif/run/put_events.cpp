// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/put_events.h"

#include "model/base/wrap.h"
#include "model/timeline/annotation_spans.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace strata::model {

namespace {

/// Ranges of the steps of optimizers, by their begin.
std::vector<AnnotationSpan> stepRanges(const DeviceTrace& trace, const Clock& clock)
{
    std::vector<AnnotationSpan> ranges
        = annotationSpans(trace.recording(), trace.device(), clock, SpanTimes::Whole);
    std::erase_if(ranges, [](const AnnotationSpan& span) {
        return !span.name.starts_with("Optimizer.step#") || span.openBegin || span.openEnd;
    });
    std::ranges::stable_sort(ranges, {}, &AnnotationSpan::beginNs);
    return ranges;
}

} // namespace

PutEvents::PutEvents(const PutOptimizers& put, const DeviceTrace& recorded)
    : m_put(put)
    , m_recorded(recorded)
    , m_clock(recorded)
{
    findTimes();
}

void PutEvents::findTimes()
{
    const std::vector<AnnotationSpan> ranges = stepRanges(m_recorded, m_clock);
    std::vector<bool> taken(ranges.size()); // several steps may lie between the same two events
    for (const PutOptimizers::Optimizer& optimizer : m_put.all) {
        Times& times = m_times.emplace_back(optimizer.steps.size());
        const std::string named = "#" + optimizer.recorded + ".";
        for (std::size_t row = 0, from = 0; row < optimizer.steps.size(); ++row) {
            const PutOptimizers::Step& step = optimizer.steps[row];
            if (step.begin < step.end) {
                times[row] = m_clock.timeNs(step.begin);
                continue;
            }
            while (from < ranges.size() && ranges[from].last < step.end - 1)
                ++from;
            for (std::size_t at = from; at < ranges.size() && ranges[at].first < step.end; ++at)
                if (!taken[at] && ranges[at].name.find(named) != std::string_view::npos) {
                    taken[at] = true;
                    times[row] = wrapAdd(m_clock.startNs(), ranges[at].beginNs);
                    break;
                }
        }
    }
}

PutEvents::Told PutEvents::of(std::uint32_t block, EventIndex behind) const
{
    const EventColumns& events = m_recorded.events();
    const auto rowOf = [](EventIndex event) { return static_cast<std::size_t>(event); };
    const std::uint32_t owner = m_put.owners[block - m_put.firstBlock];
    const PutOptimizers::Optimizer& optimizer = m_put.all[owner];
    const auto before
        = [](const PutOptimizers::Step& each) { return std::max<EventIndex>(each.begin - 1, 0); };
    const auto step = std::ranges::lower_bound(optimizer.steps, behind, {}, before);
    Told told{ .timeNs = m_clock.timeNs(behind) };
    if (step == optimizer.steps.end() || before(*step) != behind) { // it is made there, or gone
        told.phase = events.phaseOf(rowOf(behind));
        told.thread = events.threadOf(rowOf(behind));
        return told;
    }
    if (const auto& begins = m_times[owner][rowOf(step - optimizer.steps.begin())])
        told.timeNs = std::max(told.timeNs, *begins);
    if (const EventIndex like = step->like >= 0 ? step->like : optimizer.like; like >= 0) {
        told.stack = events.stack[rowOf(like)];
        told.thread = events.threadOf(rowOf(like));
    } else if (optimizer.parameterLike >= 0) {
        told.thread = events.threadOf(rowOf(optimizer.parameterLike));
    }
    told.phase = events.phase.empty() ? EventPhase::Unknown : EventPhase::NoGrad;
    return told;
}

} // namespace strata::model
