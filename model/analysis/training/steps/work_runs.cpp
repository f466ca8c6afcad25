// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/work_runs.h"

#include <algorithm>
#include <optional>

namespace strata::model {

namespace {

/// A loss is a number; so is its gradient, which is made in front of the backward that begins with it
/// (torch/autograd/__init__.py: _make_grads).
constexpr std::int64_t kRunLossBytes = 8;

bool asksForMemory(Action action)
{
    return action == Action::Alloc || action == Action::SegmentAlloc || action == Action::SegmentMap
        || action == Action::Oom;
}

RunKind runKindOf(EventPhase phase)
{
    switch (phase) {
    case EventPhase::Grad:
        return RunKind::Forward;
    case EventPhase::NoGrad:
        return RunKind::NoGrad;
    case EventPhase::Inference:
        return RunKind::Inference;
    case EventPhase::Backward:
        return RunKind::Backward;
    case EventPhase::BackwardGrad:
        return RunKind::Recompute;
    case EventPhase::BackwardGradKeep:
        return RunKind::GradInBackward;
    case EventPhase::Unknown:
        break;
    }
    return RunKind::Unknown;
}

/// The thread that most of the work outside of backwards is done on, if one does more than half of it:
/// autograd has threads of its own, and so has DataParallel, for each forward another one.
std::optional<ThreadIndex> threadOfForwards(const EventColumns& events, std::size_t told)
{
    if (events.thread.size() < told)
        return std::nullopt;
    std::vector<std::int64_t> counts;
    std::int64_t all = 0;
    for (std::size_t i = 0; i < told;) {
        const auto phases = events.phase.run(i);
        const auto threads = events.thread.run(i);
        const std::size_t count = std::min({ phases.size(), threads.size(), told - i });
        for (std::size_t k = 0; k < count; ++k) {
            const RunKind work = runKindOf(phases[k]);
            if (work == RunKind::Unknown || isBackward(work))
                continue;
            if (threads[k] >= counts.size())
                counts.resize(std::size_t{ threads[k] } + 1);
            ++counts[threads[k]];
            ++all;
        }
        i += count;
    }
    const auto most = std::ranges::max_element(counts);
    return most != counts.end() && *most * 2 > all
        ? std::optional(static_cast<ThreadIndex>(most - counts.begin()))
        : std::nullopt;
}

/// Finds the backwards and says of each what was done in it with gradients on: where some of it was done
/// without, a forward was done again, else all of it makes the graph of a second derivative.
std::vector<BackwardRun> resolveBackwards(std::vector<WorkRun>& runs)
{
    std::vector<BackwardRun> found;
    for (std::size_t first = 0; first < runs.size();) {
        if (!isBackward(runs[first].work)) {
            ++first;
            continue;
        }
        std::size_t end = first + 1;
        while (end < runs.size() && isBackward(runs[end].work) && !runs[end].begins)
            ++end;
        BackwardRun backward{ runs[first].first, runs[end - 1].lastOwn };
        backward.makesGraph = std::all_of(runs.begin() + static_cast<std::ptrdiff_t>(first),
            runs.begin() + static_cast<std::ptrdiff_t>(end),
            [](const WorkRun& run) { return run.work == RunKind::GradInBackward; });
        for (std::size_t i = first; i < end; ++i) {
            if (runs[i].work == RunKind::GradInBackward)
                runs[i].work = backward.makesGraph ? RunKind::Backward : RunKind::Recompute;
            backward.recomputes = backward.recomputes || runs[i].work == RunKind::Recompute;
        }
        found.push_back(backward);
        first = end;
    }
    return found;
}

/// Neighbours that turned out to be of one kind become one.
void join(std::vector<WorkRun>& runs)
{
    std::size_t kept = 0;
    for (const WorkRun& run : runs) {
        if (kept > 0 && runs[kept - 1].work == run.work && !run.begins) {
            runs[kept - 1].last = run.last;
            runs[kept - 1].lastOwn = run.lastOwn;
        } else {
            runs[kept++] = run;
        }
    }
    runs.resize(kept);
}

} // namespace

void WorkRunMaker::close(EventIndex end)
{
    if (end > m_first)
        m_runs.push_back({ m_work, m_begins, m_first, end - 1, std::min(m_lastOwn, end - 1) });
}

void WorkRunMaker::open(EventIndex event, RunKind work)
{
    const bool enters = isBackward(work) && !isBackward(m_work);
    if (m_work == RunKind::Unknown && m_runs.empty()) { // what nothing tells of goes with what comes next
        m_work = work;
        m_begins = enters;
        return;
    }
    if (enters && m_work == RunKind::Forward && m_lastAlloc >= m_first && m_lastBytes <= kRunLossBytes) {
        close(m_lastAlloc);
        m_first = m_lastAlloc;
    } else {
        close(event);
        m_first = event;
    }
    m_work = work;
    m_begins = enters;
}

WorkHistory WorkRunMaker::finish(EventIndex events)
{
    WorkHistory history;
    close(events);
    if (m_runs.size() == 1 && m_runs.front().work == RunKind::Unknown)
        m_runs.clear();
    history.backwards = resolveBackwards(m_runs);
    join(m_runs);
    history.runs = std::move(m_runs);
    return history;
}

bool beginsInBackward(const WorkHistory& work)
{
    const auto first = std::ranges::find_if(
        work.runs, [](const WorkRun& run) { return run.work == RunKind::Forward || isBackward(run.work); });
    return first != work.runs.end() && isBackward(first->work);
}

RunKind workAt(const WorkHistory& work, EventIndex event)
{
    const auto run
        = std::ranges::partition_point(work.runs, [event](const WorkRun& each) { return each.last < event; });
    return run == work.runs.end() ? RunKind::Unknown : run->work;
}

WorkHistory workFromBits(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    WorkRunMaker maker;
    const auto told = std::min(events.phase.size(), static_cast<std::size_t>(trace.eventCount()));
    if (told == 0)
        return {};
    // What another thread does meanwhile is neither a forward of this training nor the end of its backward.
    const std::optional<ThreadIndex> own = threadOfForwards(events, told);
    for (std::size_t i = 0; i < told;) {
        const auto phases = events.phase.run(i);
        const auto actions = events.action.run(i);
        const std::size_t count = std::min({ phases.size(), actions.size(), told - i });
        for (std::size_t k = 0; k < count; ++k) {
            const auto event = static_cast<EventIndex>(i + k);
            const RunKind work = runKindOf(phases[k]);
            if (own && isBackward(maker.work()) && !isBackward(work) && events.threadOf(i + k) != *own)
                continue;
            maker.add(event, work, asksForMemory(actions[k]));
            if (actions[k] == Action::Alloc)
                maker.noteAlloc(event, events.bytes[i + k]);
        }
        i += count;
    }
    WorkHistory history = maker.finish(trace.eventCount());
    history.tellsGradMode = true;
    return history;
}

} // namespace strata::model
