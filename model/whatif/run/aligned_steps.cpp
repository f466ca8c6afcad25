// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/run/aligned_steps.h"

#include "model/analysis/training/steps/step_ends.h"
#include "model/whatif/run/common_part.h"

#include <algorithm>
#include <span>
#include <utility>

namespace strata::model {

namespace {

/// Events from `first` up to `end`.
struct AlignedRange {
    EventIndex first = 0, end = 0;
};

/// A request or a free.
struct StepToken {
    EventIndex event = 0;
    std::int64_t kind = 0; ///< what, and on which stream
    std::int64_t sized = 0; ///< the same, and how much
};

std::vector<StepToken> stepTokensOf(const DeviceTrace& trace, const AlignedRange& stretch)
{
    const EventColumns& events = trace.events();
    std::vector<StepToken> tokens;
    for (EventIndex event = stretch.first; event < stretch.end; ++event) {
        const auto row = static_cast<std::size_t>(event);
        const Action action = events.action[row];
        if (action != Action::Alloc && action != Action::FreeRequested && action != Action::FreeCompleted)
            continue;
        const std::int64_t kind = events.stream[row] * std::int64_t{ 4 }
            + (action == Action::Alloc                ? 0
                    : action == Action::FreeRequested ? 1
                                                      : 2);
        constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
        const std::uint64_t sized
            = static_cast<std::uint64_t>(events.bytes[row]) * kSpread + static_cast<std::uint64_t>(kind);
        tokens.push_back({ event, kind, static_cast<std::int64_t>(sized) });
    }
    return tokens;
}

bool isAllocEvent(const DeviceTrace& trace, EventIndex event)
{
    return trace.events().action[static_cast<std::size_t>(event)] == Action::Alloc;
}

/// By tokens of `one`: that of the other.
std::vector<std::uint32_t> partnersOf(
    const DeviceTrace& trace, const std::vector<StepToken>& one, const std::vector<StepToken>& other)
{
    const auto values = [](const std::vector<StepToken>& tokens, std::int64_t StepToken::*value) {
        std::vector<std::int64_t> list(tokens.size());
        std::ranges::transform(tokens, list.begin(), value);
        return list;
    };
    const std::vector<std::int64_t> kinds = values(one, &StepToken::kind),
                                    others = values(other, &StepToken::kind);
    if (kinds == others)
        return commonPart(kinds, others);
    std::vector<std::uint32_t> partners
        = commonPart(values(one, &StepToken::sized), values(other, &StepToken::sized));
    const auto isRequest = [&](const StepToken& token) { return isAllocEvent(trace, token.event); };
    std::int64_t found = 0;
    for (std::size_t i = 0; i < one.size(); ++i)
        found += partners[i] != kNoPartner && isRequest(one[i]) ? 1 : 0;
    // One of the two may do something before, as an evaluation, that the other has not.
    const std::int64_t most
        = std::min(std::ranges::count_if(one, isRequest), std::ranges::count_if(other, isRequest));
    return 2 * found < most ? commonPart(kinds, others) : partners; // else their sizes are others
}

/// Phases with the event that each begins with.
using Phases = std::vector<std::pair<Phase, EventIndex>>;

/// The last one where it is the optimizer's and the other stretch ends without: a part of the one before.
void dropOptimizer(Phases& phases, const Phases& other)
{
    const auto ends = [](const Phases& all) { return !all.empty() && all.back().first == Phase::Optimizer; };
    if (ends(phases) && !ends(other))
        phases.pop_back();
}

/// What a stretch does, phase by phase.
Phases phaseRangesOf(const TrainingSteps& steps, const AlignedRange& stretch)
{
    Phases phases;
    for (const TrainingStep& step : steps.steps) {
        if (step.last < stretch.first || step.first >= stretch.end)
            continue;
        for (const PhaseSpan& span : step.phases)
            if (span.last >= stretch.first && span.first < stretch.end
                && (phases.empty() || phases.back().first != span.phase))
                phases.emplace_back(span.phase, std::max(span.first, stretch.first));
    }
    return phases;
}

class Alignment {
public:
    Alignment(const DeviceTrace& trace, const TrainingSteps& steps, AlignedRange one)
        : m_trace(trace)
        , m_steps(steps)
        , m_one(one)
        , m_phases(phaseRangesOf(steps, one))
        , m_firstBlock(static_cast<std::uint32_t>(allocsBefore(trace, one.first)))
        , m_blocks(static_cast<std::size_t>(allocsBefore(trace, one.end)) - m_firstBlock)
    {
    }

    [[nodiscard]] AlignedStep with(const AlignedRange& other) const
    {
        AlignedStep step{ m_firstBlock, std::vector<std::uint32_t>(m_blocks, AlignedStep::kNone), m_one.first,
            std::vector<EventIndex>(static_cast<std::size_t>(m_one.end - m_one.first) + 1, -1), 0 };
        auto here = m_phases, phases = phaseRangesOf(m_steps, other);
        // An optimizer allocates in its first step, and may do so in no other.
        dropOptimizer(here, phases);
        dropOptimizer(phases, here);
        // One of the two may have an evaluation before its forward: what their ends have in common is the
        // same.
        const std::size_t most = std::min(here.size(), phases.size());
        std::size_t same = 0;
        while (same < most && here[here.size() - 1 - same].first == phases[phases.size() - 1 - same].first)
            ++same;
        const bool isAll = same == here.size() && same == phases.size();
        AlignedRange from{ m_one.first, m_one.first }, to{ other.first, other.first };
        for (std::size_t left = isAll ? same - 1 : same; same > 0 && left > 0; --left) {
            from = { from.end, here[here.size() - left].second };
            to = { to.end, phases[phases.size() - left].second };
            align(from, to, step);
        }
        align({ from.end, m_one.end }, { to.end, other.end }, step);
        step.places.back() = other.end;
        for (std::size_t i = step.places.size() - 1; i > 0; --i)
            if (step.places[i - 1] < 0)
                step.places[i - 1] = step.places[i];
        step.alone = std::ranges::count(step.blocks, AlignedStep::kNone);
        return step;
    }

private:
    void align(const AlignedRange& from, const AlignedRange& to, AlignedStep& step) const
    {
        const std::vector<StepToken> one = stepTokensOf(m_trace, from), other = stepTokensOf(m_trace, to);
        const std::vector<std::uint32_t> partners = partnersOf(m_trace, one, other);
        const EventColumns& events = m_trace.events();
        std::vector<bool> isPartner(other.size());
        for (std::size_t i = 0; i < one.size(); ++i) {
            if (partners[i] == kNoPartner)
                continue;
            const StepToken& partner = other[partners[i]];
            isPartner[partners[i]] = true;
            step.places[static_cast<std::size_t>(one[i].event - m_one.first)] = partner.event;
            if (!isAllocEvent(m_trace, one[i].event))
                continue;
            const BlockId block = events.block[static_cast<std::size_t>(one[i].event)];
            const BlockId there = events.block[static_cast<std::size_t>(partner.event)];
            if (block.valid() && !block.isOlder() && there.valid() && !there.isOlder())
                step.blocks[block.row() - m_firstBlock] = static_cast<std::uint32_t>(there.row());
        }
        for (std::size_t i = 0; i < other.size(); ++i)
            if (!isPartner[i] && isAllocEvent(m_trace, other[i].event)
                && m_steps.phaseAt(other[i].event) != Phase::Optimizer)
                step.strays.push_back(other[i].event);
        // What stands at the end of a phase stands there in the other, too.
        EventIndex& place = step.places[static_cast<std::size_t>(from.end - m_one.first)];
        if (place < 0)
            place = to.end;
    }

    const DeviceTrace& m_trace;
    const TrainingSteps& m_steps;
    AlignedRange m_one;
    Phases m_phases;
    std::uint32_t m_firstBlock;
    std::size_t m_blocks;
};

/// A first step without what comes before it.
AlignedRange firstStep(const TrainingSteps& steps, EventIndex end)
{
    const TrainingStep* const step = end > 0 ? steps.at(end - 1) : nullptr;
    return { step != nullptr ? std::min(step->first, end) : 0, end };
}

} // namespace

std::vector<AlignedStep> alignSteps(
    const DeviceTrace& trace, const TrainingSteps& steps, EventIndex begin, EventIndex end)
{
    std::vector<AlignedStep> aligned;
    const std::vector<EventIndex> ends = endsOfOptimizer(trace, begin, end);
    if (ends.empty())
        return aligned;
    const Alignment alignment(trace, steps, { begin, end });
    aligned.push_back(alignment.with(firstStep(steps, ends.front())));
    for (std::size_t i = 1; i < ends.size(); ++i)
        aligned.push_back(alignment.with({ ends[i - 1], ends[i] }));
    if (ends.back() < trace.eventCount()) { // a step that has not come to its end, or none
        AlignedStep rest = alignment.with({ ends.back(), trace.eventCount() });
        rest.isWhole = false;
        if (rest.alone < static_cast<std::int64_t>(rest.blocks.size()))
            aligned.push_back(std::move(rest));
    }
    return aligned;
}

} // namespace strata::model
