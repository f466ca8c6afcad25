// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/phase_map.h"

#include <algorithm>

namespace strata::model {

Phase phaseOfBits(EventPhase bits)
{
    switch (bits) {
    case EventPhase::Grad:
        return Phase::Forward;
    case EventPhase::NoGrad:
    case EventPhase::Inference:
        return Phase::NoGrad;
    case EventPhase::Backward:
        return Phase::Backward;
    case EventPhase::BackwardGrad:
        return Phase::Recompute;
    case EventPhase::BackwardGradKeep: // that, or a gradient of a gradient
    case EventPhase::Unknown:
        break;
    }
    return Phase::Unknown;
}

PhaseMap::PhaseMap(const DeviceTrace& trace, const TrainingSteps& steps)
{
    for (const TrainingStep& step : steps.steps) {
        const bool over = isOver(step, trace.eventCount());
        const StepKind kind = over ? StepKind::Train : step.kind;
        for (const PhaseSpan& span : step.phases)
            add(span.phase, kind, span.first, span.last, step.last);
        if (step.phases.empty())
            add(Phase::Unknown, kind, step.first, step.last, step.last);
        if (over)
            m_ends.push_back(step.last);
    }
    const EventIndex last = trace.eventCount() - 1;
    if (steps.steps.empty() && !trace.events().phase.empty()) {
        for (EventIndex event = 0; event <= last; ++event)
            add(phaseOfBits(trace.events().phaseOf(static_cast<std::size_t>(event))), StepKind::Incomplete,
                event, event, last);
    }
    if (m_spans.empty() && last >= 0)
        add(Phase::Unknown, StepKind::Incomplete, 0, last, last);
    forgetCarriedOver();
    findBackwards();
    findFrees(trace);
}

void PhaseMap::add(Phase phase, StepKind kind, EventIndex first, EventIndex last, EventIndex stepLast)
{
    if (last < first)
        return;
    if (!m_spans.empty() && m_spans.back().phase == phase && m_spans.back().stepLast == stepLast) {
        m_spans.back().last = last;
        return;
    }
    m_spans.push_back({ .phase = phase, .step = kind, .first = first, .last = last, .stepLast = stepLast });
    if (phase == Phase::Forward && kind != StepKind::Setup && m_firstForward == kNever)
        m_firstForward = first;
    if (phase == Phase::Backward && m_firstBackward == kNever)
        m_firstBackward = first;
}

/// What a step begins with that its forward comes behind is no backward or optimizer, but what went on as
/// nothing else showed: gradients are freed there, a batch is drawn.
void PhaseMap::forgetCarriedOver()
{
    for (std::size_t i = 1; i + 1 < m_spans.size(); ++i) {
        Span& span = m_spans[i];
        const bool begins = m_spans[i - 1].stepLast != span.stepLast;
        if (begins && (span.phase == Phase::Backward || span.phase == Phase::Optimizer)
            && m_spans[i + 1].phase == Phase::Forward && m_spans[i + 1].stepLast == span.stepLast)
            span.phase = Phase::Unknown;
    }
}

void PhaseMap::findBackwards()
{
    for (std::size_t i = 0; i < m_spans.size();) {
        if (!m_spans[i].isBackward()) {
            ++i;
            continue;
        }
        std::size_t end = i;
        for (std::size_t next = i + 1; next < m_spans.size() && m_spans[next].phase != Phase::Forward
             && m_spans[next].stepLast == m_spans[i].stepLast;
             ++next)
            if (m_spans[next].isBackward())
                end = next;
        for (std::size_t row = i; row <= end; ++row) {
            m_spans[row].backwardFirst = m_spans[i].first;
            m_spans[row].backwardLast = m_spans[end].last;
        }
        i = end + 1;
    }
    EventIndex first = kNever, last = kNever;
    for (auto span = m_spans.rbegin(); span != m_spans.rend(); ++span) {
        span->nextBackward = first;
        span->nextBackwardEnd = last;
        if (span->backwardFirst == span->first) {
            first = span->first;
            last = span->backwardLast;
        }
    }
}

void PhaseMap::findFrees(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    EventIndex nextAlloc = kNever;
    struct {
        Phase phase = Phase::Unknown;
        EventIndex first = kNever, until = kNever;
    } next; // phase that is known and has allocs
    for (auto span = m_spans.rbegin(); span != m_spans.rend(); ++span) {
        // What goes behind the end of a step, gradients mostly, goes with the next one.
        span->freesUntil
            = span->step == StepKind::Train ? std::min(nextAlloc, span->stepLast + 1) : nextAlloc;
        span->phaseUntil = span->phase == next.phase ? next.until : next.first;
        for (EventIndex event = span->last; event >= span->first; --event)
            if (events.action[static_cast<std::size_t>(event)] == Action::Alloc) {
                span->lastAlloc = std::max(span->lastAlloc, event);
                nextAlloc = event;
            }
        if (span->lastAlloc != -1 && span->phase != Phase::Unknown)
            next = { span->phase, nextAlloc, span->phaseUntil };
    }
    for (std::size_t i = 0; i < m_spans.size();) {
        std::size_t end = i + 1;
        EventIndex lastAlloc = m_spans[i].lastAlloc;
        for (; end < m_spans.size() && m_spans[i].backwardFirst != kNever
             && m_spans[end].backwardFirst == m_spans[i].backwardFirst;
             ++end)
            lastAlloc = std::max(lastAlloc, m_spans[end].lastAlloc);
        for (; i < end; ++i) {
            m_spans[i].backwardLastAlloc = lastAlloc;
            if (m_spans[i].phase == Phase::Backward)
                m_spans[i].freesUntil = m_spans[end - 1].freesUntil;
        }
    }
}

std::size_t PhaseMap::rowOf(EventIndex event, std::size_t hint) const
{
    std::size_t row = std::min(hint, m_spans.empty() ? 0 : m_spans.size() - 1);
    constexpr std::size_t kNear = 4;
    for (std::size_t i = 0; i < kNear && row < m_spans.size(); ++i) {
        if (m_spans[row].first <= event && event <= m_spans[row].last)
            return row;
        if (row + 1 == m_spans.size() || event < m_spans[row].first)
            break;
        ++row;
    }
    const auto above = std::ranges::upper_bound(m_spans, event, {}, &Span::first);
    return above == m_spans.begin() ? 0 : static_cast<std::size_t>(above - m_spans.begin()) - 1;
}

} // namespace strata::model
