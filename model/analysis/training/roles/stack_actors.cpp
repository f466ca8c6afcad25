// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/roles/stack_actors.h"

#include <algorithm>

namespace strata::model {

namespace {

bool isFree(Action action)
{
    return action == Action::FreeRequested || action == Action::FreeCompleted;
}

/// Whether frees have stacks of their own: with context="alloc" PyTorch gives them that of the allocation.
bool tellsFrees(const DeviceTrace& trace)
{
    const BlockColumns& blocks = trace.blocks();
    const auto& stacks = trace.events().stack;
    for (std::size_t row = 0; row < blocks.bornCount(); ++row) {
        const BlockId block = BlockId::born(row);
        const EventIndex end = std::min(blocks.pendingSince(block), blocks.death(block));
        if (end >= trace.eventCount())
            continue;
        const StackId birth = stacks[static_cast<std::size_t>(blocks.birth(block))];
        const StackId freed = stacks[static_cast<std::size_t>(end)];
        if (birth.valid() && freed.valid() && birth != freed)
            return true;
    }
    return false;
}

} // namespace

StackActors::StackActors(const DeviceTrace& trace, const StackOrigins& origins, const PhaseMap& phases)
    : m_trace(trace)
    , m_origins(origins)
    , m_tellsFrees(strata::model::tellsFrees(trace))
{
    const EventColumns& events = trace.events();
    bool engineShows = false;
    for (std::size_t i = 0; i < trace.recording().stacks.stackCount() && !engineShows; ++i)
        engineShows = origins.of(StackId{ static_cast<std::uint32_t>(i) }).isEngine();
    m_bareIsEngine = !engineShows && origins.any(StackOrigin::Python) && m_tellsFrees;
    std::size_t span = 0;
    for (std::size_t row = 0; row < static_cast<std::size_t>(trace.eventCount()); ++row) {
        if (events.action[row] != Action::Alloc)
            continue;
        const auto event = static_cast<EventIndex>(row);
        const StackId stack = events.stack[row];
        Actor actor = shownBy(stack);
        if (!stack.valid() && m_bareIsEngine) {
            span = phases.rowOf(event, span);
            if (phases.spans()[span].isBackward())
                actor = Actor::Engine;
        }
        if (m_runs.empty() || m_runs.back().actor != actor)
            m_runs.push_back({ event, actor });
    }
    for (EventIndex event = trace.eventCount(); --event >= 0 && m_lastProgram < 0;) {
        const Action action = events.action[static_cast<std::size_t>(event)];
        if ((action == Action::Alloc || isFree(action)) && of(event) != Actor::Engine)
            m_lastProgram = event;
    }
}

StackActors::Actor StackActors::shownBy(StackId stack) const
{
    const StackOrigin& origin = m_origins.of(stack);
    return origin.isEngine()                 ? Actor::Engine
        : origin.has(StackOrigin::Optimizer) ? Actor::Optimizer
                                             : Actor::Program;
}

const StackActors::Run* StackActors::runAt(EventIndex event) const
{
    const auto after = std::ranges::upper_bound(m_runs, event, {}, &Run::first);
    return after == m_runs.begin() ? nullptr : &*std::prev(after);
}

StackActors::Actor StackActors::of(EventIndex event) const
{
    if (event < 0 || event >= m_trace.eventCount())
        return Actor::Program;
    const auto row = static_cast<std::size_t>(event);
    if (!m_tellsFrees && m_trace.events().action[row] != Action::Alloc)
        return Actor::Program;
    const StackId stack = m_trace.events().stack[row];
    if (stack.valid() || !m_bareIsEngine)
        return shownBy(stack);
    const Run* const run = runAt(event);
    return run != nullptr && run->actor == Actor::Engine ? Actor::Engine : Actor::Program;
}

bool StackActors::isFollowed(EventIndex event, EventIndex until) const
{
    const auto next = std::ranges::upper_bound(m_runs, event, {}, &Run::first);
    return next == m_runs.end() ? event < m_lastProgram && m_lastProgram < until : next->first < until;
}

bool StackActors::isOneRun(Actor actor, EventIndex first, EventIndex last) const
{
    const Run* const run = runAt(first);
    return run != nullptr && run->actor == actor && run == runAt(last) && of(last) == actor;
}

} // namespace strata::model
