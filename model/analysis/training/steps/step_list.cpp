// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/training/steps/step_list.h"

#include "model/base/wrap.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_set.hpp>
#include <optional>

namespace strata::model {

namespace {

/// What runs without gradients is an evaluation, what runs with them a forward, if it asks for memory at
/// least so often as this share of the forward of a step: less is a metric, an average, a batch.
constexpr double kForwardShare = 0.25;
constexpr std::int64_t kFewestStepAllocs = 4;

/// How many allocs may stand in a first forward that the second does not have, at one place: workspaces and
/// what else is made lazily.
constexpr std::int64_t kStepMadeOnce = 8;

/// A checkpoint is so many copies at least, and this share of what stays: parameters, not their states too.
constexpr std::int64_t kFewestCopies = 3;
constexpr double kCopiedShare = 0.25;

class Lister {
public:
    Lister(const DeviceTrace& trace, const WorkHistory& work, const StepEnds& ends)
        : m_trace(trace)
        , m_blocks(trace.blocks())
        , m_work(work)
        , m_ends(ends)
        , m_tellsModules(std::ranges::any_of(
              trace.events().module, [](ModuleIndex module) { return module != kNoIndex; }))
    {
    }

    std::vector<TrainingStep> list();

private:
    struct Allocs { // by number
        std::int64_t first = 0, end = 0;
        [[nodiscard]] std::int64_t count() const { return end - first; }
    };
    [[nodiscard]] Allocs allocsOf(EventIndex first, EventIndex last) const
    {
        return { allocsBefore(m_trace, first), allocsBefore(m_trace, last + 1) };
    }
    [[nodiscard]] EventIndex eventOf(std::int64_t alloc) const
    {
        return static_cast<EventIndex>(m_blocks.alloc[static_cast<std::size_t>(alloc)].value);
    }
    [[nodiscard]] EventIndex deathOf(std::int64_t alloc) const
    {
        return m_blocks.death(BlockId::born(static_cast<std::size_t>(alloc)));
    }
    [[nodiscard]] std::int64_t bytesOf(std::int64_t alloc) const
    {
        return m_blocks.requestedBytes.born[static_cast<std::size_t>(alloc)];
    }
    [[nodiscard]] RunKind workAt(EventIndex event) const { return model::workAt(m_work, event); }
    [[nodiscard]] const BackwardRun* backwardIn(EventIndex first, EventIndex last) const;
    [[nodiscard]] bool isOfModule(Allocs allocs) const;

    [[nodiscard]] EventIndex startOfForward(EventIndex first, const BackwardRun& backward) const;
    [[nodiscard]] EventIndex startOfFirst(EventIndex first, const BackwardRun& backward) const;
    [[nodiscard]] EventIndex alignedStart(Allocs one, Allocs next) const;

    [[nodiscard]] std::optional<StepKind> kindOf(
        const WorkRun& run, EventIndex first, EventIndex last, EventIndex until, bool setup) const;
    struct Span {
        EventIndex first = 0, last = -1;
    };
    [[nodiscard]] std::optional<Span> findSave(EventIndex first, EventIndex last) const;
    [[nodiscard]] EventIndex withFrees(EventIndex last, EventIndex most) const;
    void findCopies();
    void addLead(EventIndex first, EventIndex last, bool setup);
    void addTraining(EventIndex first, EventIndex last, StepKind kind);
    void add(StepKind kind, EventIndex first, EventIndex last);

    const DeviceTrace& m_trace;
    const BlockColumns& m_blocks;
    const WorkHistory& m_work;
    const StepEnds& m_ends;
    std::vector<TrainingStep> m_steps;
    bool m_tellsModules; // in whose forward something happened
    boost::unordered_flat_set<std::int64_t> m_copies; // sizes of copies of what stays
    std::int64_t m_staying = 0; // how many blocks those are
    std::int64_t m_forwardAllocs = 0; // of the forward of the step at hand, or of the last one
};

/// The first one that is no part of a forward.
const BackwardRun* Lister::backwardIn(EventIndex first, EventIndex last) const
{
    auto found = std::ranges::partition_point(
        m_work.backwards, [first](const BackwardRun& each) { return each.first < first; });
    while (found != m_work.backwards.end() && found->makesGraph && found->first <= last)
        ++found;
    return found != m_work.backwards.end() && found->first <= last ? &*found : nullptr;
}

bool Lister::isOfModule(Allocs allocs) const
{
    for (std::int64_t alloc = allocs.first; alloc < allocs.end; ++alloc)
        if (m_trace.events().moduleOf(static_cast<std::size_t>(eventOf(alloc))) != kNoIndex)
            return true;
    return false;
}

/// The first alloc with gradients on that is still there when the backward begins: the batch, or what the
/// graph keeps. What comes before it has come to its end.
EventIndex Lister::startOfForward(EventIndex first, const BackwardRun& backward) const
{
    const Allocs before = allocsOf(first, backward.first - 1);
    for (std::int64_t alloc = before.first; alloc < before.end; ++alloc)
        if (deathOf(alloc) > backward.first && mayBegin(workAt(eventOf(alloc))))
            return eventOf(alloc);
    return first;
}

/// Where the second forward's allocs begin in the first one, compared from their ends.
EventIndex Lister::alignedStart(Allocs one, Allocs next) const
{
    std::int64_t i = one.end, j = next.end;
    while (i > one.first && j > next.first) {
        std::int64_t skip = 0;
        while (skip < kStepMadeOnce && i - skip > one.first && bytesOf(i - skip - 1) != bytesOf(j - 1))
            ++skip;
        const bool found = skip < kStepMadeOnce && i - skip > one.first;
        i -= (found ? skip : 0) + 1;
        --j;
    }
    return i < one.end ? eventOf(i) : -1;
}

/// Setting up a program runs with gradients on, as a forward does. The first forward begins where a module
/// runs or where it looks like the second one. Else it begins with the first block that does not outlive the
/// step; where no step is whole, with the first block that is there when the backward begins.
EventIndex Lister::startOfFirst(EventIndex first, const BackwardRun& backward) const
{
    const Allocs before = allocsOf(first, backward.first - 1);
    EventIndex start = BlockColumns::kNever;
    for (std::int64_t alloc = before.first; alloc < before.end; ++alloc) {
        const EventIndex event = eventOf(alloc);
        if (m_trace.events().moduleOf(static_cast<std::size_t>(event)) != kNoIndex
            && workAt(event) == RunKind::Forward) {
            start = event;
            break;
        }
    }
    if (m_ends.size() > 1) {
        if (const BackwardRun* const next = backwardIn(m_ends[0] + 1, m_ends[1])) {
            const EventIndex second = startOfForward(m_ends[0] + 1, *next);
            const EventIndex aligned = alignedStart(before, allocsOf(second, next->first - 1));
            if (aligned >= 0)
                start = std::min(start, aligned);
        }
    }
    if (m_ends.empty())
        return start == BlockColumns::kNever ? startOfForward(first, backward) : start;
    for (std::int64_t alloc = before.first; alloc < before.end && start == BlockColumns::kNever; ++alloc)
        if (deathOf(alloc) > backward.first && deathOf(alloc) <= m_ends.front()
            && workAt(eventOf(alloc)) == RunKind::Forward)
            start = eventOf(alloc);
    return start == BlockColumns::kNever ? first : start;
}

/// What a run before the forward of a step is; none: a part of what comes next.
std::optional<StepKind> Lister::kindOf(
    const WorkRun& run, EventIndex first, EventIndex last, EventIndex until, bool setup) const
{
    const bool off = run.work == RunKind::NoGrad || run.work == RunKind::Inference;
    if (!off && run.work != RunKind::Forward)
        return std::nullopt;
    const Allocs allocs = allocsOf(first, last);
    const auto enough = std::max<std::int64_t>(
        kFewestStepAllocs, static_cast<std::int64_t>(kForwardShare * static_cast<double>(m_forwardAllocs)));
    if (allocs.count() == 0 || (allocs.count() < enough && (!off || setup || !isOfModule(allocs)))
        || (((setup && m_work.tellsGradMode) || m_tellsModules) && !isOfModule(allocs)))
        return std::nullopt;
    std::int64_t gone = 0, kept = 0; // by the end of it; of these, all in a row before its last alloc
    const EventIndex end = eventOf(allocs.end - 1);
    for (std::int64_t alloc = allocs.first; alloc < allocs.end; ++alloc) {
        gone += deathOf(alloc) <= until ? 1 : 0;
        kept += deathOf(alloc) > end ? 1 : 0;
    }
    if (2 * gone < allocs.count())
        return std::nullopt; // copies that stay
    if (off)
        return StepKind::Eval;
    // Where nothing tells whether gradients were on, a graph would keep what was made.
    return m_work.tellsGradMode || m_work.backwards.empty() || 2 * kept >= allocs.count() ? StepKind::Forward
                                                                                          : StepKind::Eval;
}

/// Copies of what stays, as it is or at half or twice the precision, one after the other, that go again: its
/// events. A checkpoint is made so; what is copied to the host without one shows nowhere.
std::optional<Lister::Span> Lister::findSave(EventIndex first, EventIndex last) const
{
    const Allocs allocs = allocsOf(first, last);
    const auto fewest = std::max<std::int64_t>(
        kFewestCopies, static_cast<std::int64_t>(kCopiedShare * static_cast<double>(m_staying)));
    for (std::int64_t alloc = allocs.first; alloc < allocs.end;) {
        std::int64_t end = alloc;
        while (end < allocs.end && deathOf(end) <= last + 1 && m_copies.contains(bytesOf(end))
            && m_trace.events().moduleOf(static_cast<std::size_t>(eventOf(end))) == kNoIndex)
            ++end;
        if (end - alloc >= fewest)
            return Span{ eventOf(alloc), eventOf(end - 1) };
        alloc = end + 1;
    }
    return std::nullopt;
}

void Lister::add(StepKind kind, EventIndex first, EventIndex last)
{
    if (last < first)
        return;
    TrainingStep step{ .number = std::ssize(m_steps),
        .kind = kind,
        .microSteps = 0,
        .first = first,
        .last = last,
        .phases = {} };
    for (auto backward = std::ranges::partition_point(
             m_work.backwards, [first](const BackwardRun& each) { return each.first < first; });
         backward != m_work.backwards.end() && backward->first <= last; ++backward)
        step.microSteps += backward->makesGraph ? 0 : 1;
    if (kind == StepKind::Train)
        step.microSteps = std::max(step.microSteps, 1);
    m_steps.push_back(std::move(step));
}

/// What goes from `last` on before anything is asked for belongs to what was before, up to `most`.
EventIndex Lister::withFrees(EventIndex last, EventIndex most) const
{
    const std::int64_t next = allocsBefore(m_trace, last + 1);
    const EventIndex asks = next < std::ssize(m_blocks.alloc) ? eventOf(next) : m_trace.eventCount();
    return std::clamp(asks - 1, last, std::max(last, most));
}

/// What comes before a forward that leads to a backward, or behind the last step, and is a step of its own.
void Lister::addLead(EventIndex first, EventIndex last, bool setup)
{
    struct Piece {
        StepKind kind;
        Span span;
    };
    std::vector<Piece> pieces;
    auto run = std::ranges::partition_point(
        m_work.runs, [first](const WorkRun& each) { return each.last < first; });
    for (; run != m_work.runs.end() && run->first <= last; ++run) {
        const EventIndex from = std::max(first, run->first), to = std::min(last, run->last);
        const auto kind = kindOf(*run, from, to, last + 1, setup);
        if (!kind || (setup && *kind == StepKind::Forward))
            continue;
        if (*kind == StepKind::Forward && !isOfModule(allocsOf(from, to)) && findSave(from, to))
            continue;
        std::int64_t end = allocsBefore(m_trace, to + 1); // what outlives it is of what comes next
        while (end > 0 && deathOf(end - 1) > last + 1 && eventOf(end - 1) > from)
            --end;
        const EventIndex until = withFrees(eventOf(end - 1), last);
        if (!pieces.empty() && pieces.back().kind == *kind)
            pieces.back().span.last = until;
        else
            pieces.push_back({ *kind, { from, until } });
    }
    if (!setup) { // of an evaluation nothing is taken for copies
        const EventIndex behind = pieces.empty() ? first : pieces.back().span.last + 1;
        if (const auto save = findSave(behind, last))
            pieces.push_back({ StepKind::Save, { save->first, withFrees(save->last, last) } });
        else if (const EventIndex before = pieces.empty() ? first : pieces.front().span.first; before > first)
            if (const auto early = findSave(first, before - 1))
                pieces.insert(pieces.begin(), { StepKind::Save, *early });
    }
    if (setup)
        add(StepKind::Setup, first, pieces.empty() ? last : pieces.front().span.first - 1);
    for (const Piece& piece : pieces)
        add(piece.kind, m_steps.empty() ? first : m_steps.back().last + 1, piece.span.last);
}

void Lister::addTraining(EventIndex first, EventIndex last, StepKind kind)
{
    const BackwardRun* const backward = backwardIn(first, last);
    const bool setup = m_steps.empty();
    if (backward) {
        const EventIndex start = setup ? startOfFirst(first, *backward) : startOfForward(first, *backward);
        m_forwardAllocs = allocsOf(start, backward->first - 1).count();
        addLead(first, start - 1, setup);
    } else if (kind == StepKind::Incomplete) {
        addLead(first, last, setup);
    }
    const EventIndex begin = m_steps.empty() ? first : m_steps.back().last + 1;
    add(kind, begin, last);
}

/// Sizes of what was there before the first backward and is still there behind the last step, and of copies.
void Lister::findCopies()
{
    if (m_ends.empty() || m_work.backwards.empty())
        return;
    const EventIndex first = m_work.backwards.front().first;
    for (const BlockId block : m_blocks.all()) {
        if (m_blocks.birth(block) >= first || m_blocks.death(block) <= m_ends.back())
            continue;
        const std::int64_t bytes = m_blocks.requestedBytes[block];
        m_copies.insert({ bytes, bytes / 2, wrapAdd(bytes, bytes) });
        ++m_staying;
    }
}

std::vector<TrainingStep> Lister::list()
{
    findCopies();
    EventIndex first = 0;
    const bool beginsWithin = beginsInBackward(m_work);
    for (const EventIndex end : m_ends) {
        addTraining(first, end, first == 0 && beginsWithin ? StepKind::Incomplete : StepKind::Train);
        first = end + 1;
    }
    addTraining(first, m_trace.eventCount() - 1, StepKind::Incomplete);
    return std::move(m_steps);
}

} // namespace

std::vector<TrainingStep> listSteps(const DeviceTrace& trace, const WorkHistory& work, const StepEnds& ends)
{
    return Lister(trace, work, ends).list();
}

} // namespace strata::model
