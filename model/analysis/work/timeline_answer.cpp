// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/timeline_answer.h"

#include "model/analysis/work/session_work.h"

#include <utility>

namespace strata::model {

namespace {

std::vector<AllocatorMark> marksOf(const TimelineTrace& trace, const TimeSpan& shown)
{
    std::vector<AllocatorSource> sources{ { trace.session.get(), 0 } };
    for (const JoinedMemory& each : trace.joined)
        sources.push_back({ each.session.get(), each.join.match.offsetNs });
    std::vector<AllocatorMark> marks = allocatorMarksOf(sources);
    std::erase_if(marks,
        [&](const AllocatorMark& mark) { return mark.timeNs < shown.beginNs || mark.timeNs > shown.endNs; });
    return marks;
}

std::vector<RankTrace> rankTracesOf(const std::vector<TimelineTrace>& traces)
{
    std::vector<RankTrace> ranks;
    for (const TimelineTrace& trace : traces)
        ranks.push_back({ trace.work.get(), &trace.strings() });
    return ranks;
}

} // namespace

TimelineTrace::TimelineTrace(std::string path, std::shared_ptr<const Session> of)
    : file(std::move(path))
    , session(std::move(of))
    , work(workOf(session))
    , time(work ? timeOf(*work) : TimeSpan{})
{
}

void TimelineTrace::analyse(const std::optional<TimeSpan>& range, OperatorsBy by)
{
    // Of the trace itself: memory that joins it has no threads, and so no operators.
    report = workReportOf(*work, strings(), range, by);
    stepTimes = stepTimesOf(report.steps).value_or(StepTimes{});
    for (const JoinedMemory& each : joined)
        work = withMemoryOf(*work, *each.session, each.join);
    const TimeSpan shown = range.value_or(time);
    marks = marksOf(*this, shown);
    for (JoinedMemory& each : joined)
        each.peaks = joinedPeaks(*each.session, each.join, shown.beginNs, shown.endNs);
}

std::int64_t TimelineTrace::busyNs() const
{
    std::int64_t longest = -1;
    for (const DeviceWork& device : report.devices)
        longest = std::max(longest, device.busyNs);
    return longest;
}

TimelineAnswer::TimelineAnswer(std::vector<TimelineTrace> given, std::size_t most)
    : traces(std::move(given))
    , mostRows(most)
{
    std::ranges::stable_sort(
        traces, {}, [](const TimelineTrace& trace) { return trace.work->rank.value_or(-1); });
    if (traces.size() > 1)
        ranks.emplace(rankTracesOf(traces));
}

const TimelineTrace& TimelineAnswer::busiest() const
{
    return *std::ranges::max_element(traces, {}, &TimelineTrace::busyNs);
}

bool TimelineAnswer::isSimulated() const
{
    return std::ranges::any_of(
        traces, [](const TimelineTrace& trace) { return trace.session->recording().simulated; });
}

QueueVerdict TimelineAnswer::verdict() const
{
    std::vector<DeviceWork> devices;
    for (const TimelineTrace& trace : traces)
        devices.insert(devices.end(), trace.report.judged.begin(), trace.report.judged.end());
    return busiest().verdict(queueOf(devices));
}

std::map<std::string, std::int64_t> TimelineAnswer::counts() const
{
    std::map<std::string, std::int64_t> sums;
    for (const TimelineTrace& trace : traces)
        for (const auto& [category, count] : trace.work->counts)
            sums[category] += count;
    return sums;
}

MemoryChanges TimelineAnswer::memoryChanges() const
{
    MemoryChanges sums;
    for (const TimelineTrace& trace : traces)
        for (const MemoryReading& reading : trace.work->memory)
            if (reading.kind == MemoryReading::Kind::Change) {
                ++sums.events;
                sums.bytes += reading.bytes;
            }
    return sums;
}

} // namespace strata::model
