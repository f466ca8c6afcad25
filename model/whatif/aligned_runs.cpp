// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/aligned_runs.h"

#include "model/whatif/common_part.h"

#include <algorithm>
#include <span>
#include <utility>

namespace strata::model {

namespace {

/// A request or a free of a recording.
struct Token {
    EventIndex event = 0;
    std::uint32_t block = AlignedRuns::kNone; ///< row of what was born; of a request
    int what = 0; ///< the same where events can be the same
};

std::vector<Token> tokensOf(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    std::vector<Token> tokens;
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        const Action action = events.action[row];
        if (action != Action::Alloc && action != Action::FreeRequested && action != Action::FreeCompleted)
            continue;
        // Streams by the order of their first appearance: as handles they differ from run to run.
        const int kind = action == Action::Alloc ? 0 : action == Action::FreeRequested ? 1 : 2;
        Token token{ static_cast<EventIndex>(row), AlignedRuns::kNone, events.stream[row] * 4 + kind };
        const BlockId block = events.block[row];
        if (action == Action::Alloc && block.valid() && !block.isOlder())
            token.block = static_cast<std::uint32_t>(block.row());
        tokens.push_back(token);
    }
    return tokens;
}

using Tokens = std::span<const Token>;

bool same(const Token& a, const Token& b)
{
    return a.what == b.what;
}

void pair(Tokens first, Tokens second, AlignedRuns& runs)
{
    for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i].block != AlignedRuns::kNone)
            runs.other[first[i].block] = second[i].block;
}

void alignDiffering(Tokens first, Tokens second, AlignedRuns& runs)
{
    std::vector<std::int64_t> kinds(first.size()), others(second.size());
    std::ranges::transform(first, kinds.begin(), &Token::what);
    std::ranges::transform(second, others.begin(), &Token::what);
    const std::vector<std::uint32_t> partners = commonPart(kinds, others);
    for (std::size_t i = 0; i < partners.size(); ++i)
        if (partners[i] != kNoPartner)
            pair(first.subspan(i, 1), second.subspan(partners[i], 1), runs);
}

/// The first events of phases, in order; those of steps.
std::vector<std::pair<Phase, EventIndex>> phasesOf(const TrainingSteps& steps)
{
    std::vector<std::pair<Phase, EventIndex>> phases;
    for (const TrainingStep& step : steps.steps)
        for (const PhaseSpan& span : step.phases)
            phases.emplace_back(span.phase, span.first);
    return phases;
}

} // namespace

AlignedRuns alignRuns(const DeviceTrace& first, const TrainingSteps& firstSteps, const DeviceTrace& second,
    const TrainingSteps& secondSteps)
{
    AlignedRuns runs;
    runs.other.assign(first.blocks().bornCount(), AlignedRuns::kNone);
    const std::vector<Token> a = tokensOf(first), b = tokensOf(second);
    runs.equal = std::ranges::equal(a, b, same);
    if (runs.equal) {
        pair(a, b, runs);
        return runs;
    }
    auto phasesA = phasesOf(firstSteps), phasesB = phasesOf(secondSteps);
    const auto kind = [](const auto& phase) { return phase.first; };
    if (!std::ranges::equal(phasesA, phasesB, {}, kind, kind)) {
        phasesA.clear();
        phasesB.clear();
    }
    phasesA.emplace_back(Phase::Unknown, first.eventCount());
    phasesB.emplace_back(Phase::Unknown, second.eventCount());
    auto beginA = a.begin(), beginB = b.begin();
    for (std::size_t i = 0; i < phasesA.size(); ++i) {
        const auto endA = std::ranges::lower_bound(beginA, a.end(), phasesA[i].second, {}, &Token::event);
        const auto endB = std::ranges::lower_bound(beginB, b.end(), phasesB[i].second, {}, &Token::event);
        alignDiffering(Tokens(beginA, endA), Tokens(beginB, endB), runs);
        beginA = endA;
        beginB = endB;
    }
    const auto aligned = static_cast<std::int64_t>(
        std::ranges::count_if(runs.other, [](std::uint32_t row) { return row != AlignedRuns::kNone; }));
    runs.alone
        = static_cast<std::int64_t>(first.blocks().bornCount() + second.blocks().bornCount()) - 2 * aligned;
    return runs;
}

} // namespace strata::model
