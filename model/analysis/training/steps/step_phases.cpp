// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/step_list.h"

#include <algorithm>

namespace strata::model {

Phase phaseOf(RunKind work)
{
    switch (work) {
    case RunKind::Forward:
        return Phase::Forward;
    case RunKind::NoGrad:
    case RunKind::Inference:
    case RunKind::Gradients:
        return Phase::NoGrad;
    case RunKind::Backward:
        return Phase::Backward;
    case RunKind::Recompute:
        return Phase::Recompute;
    case RunKind::Optimizer:
        return Phase::Optimizer;
    default:
        return Phase::Unknown;
    }
}

namespace {

/// The runs of one step.
class StepPhases {
public:
    StepPhases(const DeviceTrace& trace, const WorkHistory& work, bool updatesKnown, TrainingStep& step)
        : m_trace(trace)
        , m_work(work)
        , m_updatesKnown(updatesKnown)
        , m_step(step)
    {
    }

    void add(std::size_t firstRun)
    {
        bool forward = false; // one ran since the last backward
        for (std::size_t i = firstRun; i < m_work.runs.size() && m_work.runs[i].first <= m_step.last; ++i) {
            const WorkRun& run = m_work.runs[i];
            const EventIndex first = std::max(run.first, m_step.first);
            const EventIndex last = std::min(run.last, m_step.last);
            Phase phase = run.lastOwn < m_step.first ? Phase::Unknown : phaseOf(run.work);
            if (run.work == RunKind::Other && i + 1 < m_work.runs.size()
                && m_work.runs[i + 1].work == RunKind::Forward && run.last < m_step.last)
                phase = Phase::Forward; // a batch
            if (phase == Phase::NoGrad && run.work == RunKind::NoGrad && m_step.kind != StepKind::Eval)
                phase = withoutGradients(last, forward);
            else if (phase == Phase::Forward && m_step.kind == StepKind::Eval)
                phase = Phase::NoGrad;
            else if (phase == Phase::Forward
                && (m_step.kind == StepKind::Setup || m_step.kind == StepKind::Save
                    || m_step.kind == StepKind::Loop))
                phase = Phase::Unknown;
            forward = run.work == RunKind::Forward || (forward && !isBackward(run.work));
            m_backward = m_backward || isBackward(run.work);
            // What only gives back as a step begins goes with what comes next.
            if (!m_step.phases.empty() || allocsBefore(m_trace, first) < allocsBefore(m_trace, last + 1))
                put(phase, last);
        }
        if (m_step.phases.empty())
            put(Phase::Unknown, m_step.last);
        m_step.phases.back().last = m_step.last;
    }

private:
    /// A checkpoint that enters autograd again runs its forward without gradients, and once more in backward.
    Phase withoutGradients(EventIndex last, bool forward) const
    {
        const auto next = std::ranges::partition_point(
            m_work.backwards, [last](const BackwardRun& each) { return each.first <= last; });
        if (forward && next != m_work.backwards.end() && next->first <= m_step.last)
            return next->recomputes ? Phase::Forward : Phase::NoGrad;
        return m_backward && !m_updatesKnown && isOver(m_step, m_trace.eventCount()) ? Phase::Optimizer
                                                                                     : Phase::NoGrad;
    }

    void put(Phase phase, EventIndex last)
    {
        auto& phases = m_step.phases;
        if (!phases.empty() && phases.back().phase == phase)
            phases.back().last = last;
        else
            phases.push_back({ phase, phases.empty() ? m_step.first : phases.back().last + 1, last });
    }

    const DeviceTrace& m_trace;
    const WorkHistory& m_work;
    bool m_updatesKnown;
    TrainingStep& m_step;
    bool m_backward = false;
};

} // namespace

void addPhases(
    const DeviceTrace& trace, const WorkHistory& work, bool updatesKnown, std::vector<TrainingStep>& steps)
{
    std::size_t run = 0;
    for (TrainingStep& step : steps) {
        while (run < work.runs.size() && work.runs[run].last < step.first)
            ++run;
        StepPhases(trace, work, updatesKnown, step).add(run);
    }
}

} // namespace strata::model
