// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/step_ends.h"

#include "model/analysis/training/steps/players.h"

#include <algorithm>
#include <span>

namespace strata::model {

namespace {

/// Gradients go behind a backward if more blocks of them go than this share of the most that go behind any.
constexpr double kAllGradients = 0.5;

/// A backward with what follows it, up to the next forward that leads to one.
struct Cycle {
    EventIndex backwardFirst = 0, backwardLast = -1;
    EventIndex next = 0; ///< the first event of that forward, or of its batch
    std::vector<std::size_t> tail; ///< numbers of allocs that may be an optimizer's
    std::int64_t gradientsGone = 0;
};

class Cycles {
public:
    Cycles(const DeviceTrace& trace, const WorkHistory& work)
        : m_trace(trace)
        , m_blocks(trace.blocks())
        , m_work(work)
    {
        find();
        for (std::size_t i = 0; i < m_cycles.size(); ++i) {
            findNext(i);
            findTail(m_cycles[i]);
        }
        countGradients();
        if (work.tellsGradMode)
            cutTails();
    }

    [[nodiscard]] StepEnds ends() const;

private:
    [[nodiscard]] EventIndex eventOf(std::size_t alloc) const
    {
        return static_cast<EventIndex>(m_blocks.alloc[alloc].value);
    }
    [[nodiscard]] std::size_t firstAlloc(EventIndex event) const
    {
        return static_cast<std::size_t>(allocsBefore(m_trace, event));
    }

    [[nodiscard]] std::vector<bool> closing() const;
    void find();
    void findNext(std::size_t cycle);
    void findTail(Cycle& cycle) const;
    void countGradients();
    void cutTails();
    [[nodiscard]] EventIndex endOf(const Cycle& cycle) const;
    [[nodiscard]] bool wasRefused(const Cycle& cycle) const;

    const DeviceTrace& m_trace;
    const BlockColumns& m_blocks;
    const WorkHistory& m_work;
    std::vector<Cycle> m_cycles;
};

/// Backwards with a forward before them; one without goes with the one before.
void Cycles::find()
{
    std::size_t run = 0;
    bool forward = false;
    for (const BackwardRun& backward : m_work.backwards) {
        for (; run < m_work.runs.size() && m_work.runs[run].first < backward.first; ++run)
            forward = forward || m_work.runs[run].work == RunKind::Forward;
        if (backward.makesGraph)
            continue;
        if (forward || m_cycles.empty()) {
            m_cycles.emplace_back();
            m_cycles.back().backwardFirst = backward.first;
        }
        m_cycles.back().backwardLast = backward.last;
        forward = false;
    }
}

/// The next forward begins with the first alloc with gradients on that is there when its backward begins.
void Cycles::findNext(std::size_t cycle)
{
    const bool isLast = cycle + 1 == m_cycles.size();
    Cycle& each = m_cycles[cycle];
    each.next = isLast ? m_trace.eventCount() : m_cycles[cycle + 1].backwardFirst;
    if (isLast)
        return;
    for (std::size_t alloc = firstAlloc(each.backwardLast + 1); alloc < m_blocks.alloc.size(); ++alloc) {
        const EventIndex event = eventOf(alloc);
        if (event >= each.next)
            return;
        if (m_blocks.death(BlockId::born(alloc)) > each.next && mayBegin(workAt(m_work, event))) {
            each.next = event;
            return;
        }
    }
}

/// By stacks, what an optimizer asked for, within the backward too where it steps as gradients come. By
/// bits, what came without gradients behind the backward, in no module.
void Cycles::findTail(Cycle& cycle) const
{
    const bool bits = m_work.tellsGradMode;
    const std::size_t first = firstAlloc(bits ? cycle.backwardLast + 1 : cycle.backwardFirst);
    for (std::size_t alloc = first; alloc < m_blocks.alloc.size() && eventOf(alloc) < cycle.next; ++alloc) {
        const EventIndex event = eventOf(alloc);
        const RunKind work = workAt(m_work, event);
        if (work == RunKind::Optimizer || work == RunKind::Gradients
            || (bits && work == RunKind::NoGrad
                && m_trace.events().moduleOf(static_cast<std::size_t>(event)) == kNoIndex))
            cycle.tail.push_back(alloc);
    }
}

/// Blocks that backwards left behind, by the backward behind which they went.
void Cycles::countGradients()
{
    for (const Cycle& cycle : m_cycles)
        for (std::size_t alloc = firstAlloc(cycle.backwardFirst);
             alloc < m_blocks.alloc.size() && eventOf(alloc) <= cycle.backwardLast; ++alloc) {
            const EventIndex death = m_blocks.death(BlockId::born(alloc));
            if (death <= cycle.backwardLast || death == BlockColumns::kNever)
                continue;
            const auto next = std::ranges::partition_point(
                m_cycles, [death](const Cycle& each) { return each.backwardFirst < death; });
            std::prev(next)->gradientsGone += 1;
        }
}

/// What runs without gradients behind an optimizer, in a few cycles alone, is no part of it: an average, an
/// evaluation. Of a tail that begins as a usual one does the rest goes; states, which stay, begin none.
void Cycles::cutTails()
{
    std::vector<const Cycle*> some;
    for (const Cycle& cycle : m_cycles)
        if (!cycle.tail.empty())
            some.push_back(&cycle);
    if (some.empty())
        return;
    const auto middle = some.begin() + (std::ssize(some) - 1) / 2;
    std::ranges::nth_element(some, middle, {}, [](const Cycle* cycle) { return cycle->tail.size(); });
    const std::vector<std::size_t> usual = (*middle)->tail;
    const EventIndex usualNext = (*middle)->next;
    const auto& bytes = m_blocks.requestedBytes.born;
    const auto stays
        = [&](std::size_t alloc, EventIndex next) { return m_blocks.death(BlockId::born(alloc)) > next; };
    for (Cycle& cycle : m_cycles)
        if (cycle.tail.size() > usual.size()
            && std::ranges::equal(
                usual, std::span(cycle.tail).first(usual.size()), [&](std::size_t a, std::size_t b) {
                    return bytes[a] == bytes[b] && stays(a, usualNext) == stays(b, cycle.next);
                }))
            cycle.tail.resize(usual.size());
}

/// Behind the last alloc of the optimizer, what it made goes.
EventIndex Cycles::endOf(const Cycle& cycle) const
{
    EventIndex last = cycle.backwardLast;
    if (!cycle.tail.empty())
        last = std::max(last, eventOf(cycle.tail.back()));
    const EventColumns& events = m_trace.events();
    for (EventIndex event = last + 1; event < cycle.next && !cycle.tail.empty(); ++event) {
        const Action action = events.action[static_cast<std::size_t>(event)];
        if (action != Action::FreeRequested && action != Action::FreeCompleted)
            break;
        const BlockId block = events.block[static_cast<std::size_t>(event)];
        if (!block.valid() || m_blocks.birth(block) <= cycle.backwardLast)
            break;
        last = event;
    }
    return last;
}

/// Whether a request of the backward was refused, and nothing was asked for after it: no optimizer stepped.
bool Cycles::wasRefused(const Cycle& cycle) const
{
    for (EventIndex event = cycle.backwardLast; event >= cycle.backwardFirst; --event) {
        const Action action = m_trace.events().action[static_cast<std::size_t>(event)];
        if (action == Action::Alloc)
            return false;
        if (action == Action::Oom)
            return cycle.tail.empty() && firstAlloc(event) == m_blocks.alloc.size();
    }
    return false;
}

/// Which of them end steps. An optimizer that asks for memory each time says so itself. Many do so in their
/// first step alone: what comes before it then, one backward or several, comes before each, which is sure
/// where more gradients go behind those than behind any other: sharded, some go behind every backward. Else
/// gradients that go say it, if they go; in the end each backward is taken for a step.
std::vector<bool> Cycles::closing() const
{
    const auto count = std::ssize(m_cycles);
    std::int64_t most = 0;
    for (const Cycle& cycle : m_cycles)
        most = std::max(most, cycle.gradientsGone);
    std::vector<bool> steps, frees;
    for (const Cycle& cycle : m_cycles) {
        steps.push_back(!cycle.tail.empty());
        frees.push_back(static_cast<double>(cycle.gradientsGone) > kAllGradients * static_cast<double>(most));
    }
    const auto optimizers = std::ranges::count(steps, true), gone = std::ranges::count(frees, true);
    const bool late = std::find(steps.begin() + count / 2, steps.end(), true) != steps.end();
    if (optimizers > 1 && (optimizers >= gone || (!m_work.tellsGradMode && late)))
        return steps;
    const std::ptrdiff_t first = std::ranges::find(steps, true) - steps.begin();
    const std::ptrdiff_t period = optimizers > 0 ? first + 1 : 1;
    std::vector<bool> each;
    std::int64_t leastOfEach = most, mostOfOthers = most;
    if (period > 1)
        mostOfOthers = 0;
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        each.push_back(i % period == period - 1);
        std::int64_t& bound = each.back() ? leastOfEach : mostOfOthers;
        const std::int64_t here = m_cycles[static_cast<std::size_t>(i)].gradientsGone;
        bound = each.back() ? std::min(bound, here) : std::max(bound, here);
    }
    if (leastOfEach > mostOfOthers)
        return each;
    bool agree = gone > 0; // gradients go behind each optimizer that shows
    for (std::ptrdiff_t i = 0; i + 1 < count; ++i)
        agree = agree && (!steps[static_cast<std::size_t>(i)] || frees[static_cast<std::size_t>(i)]);
    return agree && gone > 1 ? frees : each;
}

StepEnds Cycles::ends() const
{
    const std::vector<bool> closes = closing();
    StepEnds ends;
    for (std::size_t i = 0; i < m_cycles.size(); ++i)
        if (closes[i] && !wasRefused(m_cycles[i]))
            ends.push_back(endOf(m_cycles[i]));
    return ends;
}

} // namespace

StepEnds endsOfWork(const DeviceTrace& trace, const WorkHistory& work)
{
    if (work.backwards.empty())
        return {};
    if (!work.closures.empty()) {
        std::vector<Update> updates;
        for (const ClosureSpan& closure : work.closures)
            updates.push_back({ closure.first, closure.last, closure.last });
        return endsOfUpdates(trace, work, updates);
    }
    std::vector<StepTurn> turns;
    for (const EventIndex end : Cycles(trace, work).ends())
        turns.push_back({ end, -1, { Update::kNamed } });
    StepEnds ends;
    for (const StepTurn& turn : lastTurns(trace, std::move(turns)))
        ends.push_back(turn.last);
    return ends;
}

} // namespace strata::model
