// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/aligned_runs.h"

#include <algorithm>
#include <cstddef>
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

/// Myers' greedy algorithm (An O(ND) Difference Algorithm, 1986): the fewest insertions and deletions. Keeps
/// the furthest points of each round, D^2 numbers.
void alignDiffering(Tokens first, Tokens second, AlignedRuns& runs)
{
    while (!first.empty() && !second.empty() && same(first.front(), second.front())) {
        pair(first.first(1), second.first(1), runs);
        first = first.subspan(1);
        second = second.subspan(1);
    }
    while (!first.empty() && !second.empty() && same(first.back(), second.back())) {
        pair(first.last(1), second.last(1), runs);
        first = first.first(first.size() - 1);
        second = second.first(second.size() - 1);
    }
    if (first.empty() || second.empty())
        return;
    constexpr std::ptrdiff_t kMostDifferences = 2000;
    const auto n = static_cast<std::ptrdiff_t>(first.size()), m = static_cast<std::ptrdiff_t>(second.size());
    constexpr std::ptrdiff_t kMostSteps = std::ptrdiff_t{ 1 } << 28; // a second
    const std::ptrdiff_t most = std::min({ n + m, kMostDifferences, kMostSteps / (n + m) + 1 });
    const auto at = [&](std::ptrdiff_t k) { return static_cast<std::size_t>(k + most + 1); };
    std::vector<std::ptrdiff_t> furthest(static_cast<std::size_t>(2 * most + 3), 0);
    std::vector<std::vector<std::ptrdiff_t>> rounds; // of round d: k from -d to d
    const auto isFirst = [&](std::ptrdiff_t x, std::ptrdiff_t y) {
        return same(first[static_cast<std::size_t>(x)], second[static_cast<std::size_t>(y)]);
    };
    std::ptrdiff_t d = 0;
    for (bool found = false; !found; ++d) {
        if (d > most)
            return;
        for (std::ptrdiff_t k = -d; k <= d && !found; k += 2) {
            std::ptrdiff_t x = k == -d || (k != d && furthest[at(k - 1)] < furthest[at(k + 1)])
                ? furthest[at(k + 1)]
                : furthest[at(k - 1)] + 1;
            while (x < n && x - k < m && isFirst(x, x - k))
                ++x;
            furthest[at(k)] = x;
            found = x >= n && x - k >= m;
        }
        rounds.emplace_back(furthest.begin() + static_cast<std::ptrdiff_t>(at(-d)),
            furthest.begin() + static_cast<std::ptrdiff_t>(at(d)) + 1);
    }
    std::ptrdiff_t x = n, y = m;
    for (--d; d >= 0; --d) {
        const std::ptrdiff_t k = x - y;
        const auto before = [&](std::ptrdiff_t diagonal) {
            return rounds[static_cast<std::size_t>(d - 1)][static_cast<std::size_t>(diagonal + d - 1)];
        };
        std::ptrdiff_t fromX = 0, fromY = 0;
        if (d > 0) {
            const bool inserts = k == -d || (k != d && before(k - 1) < before(k + 1));
            fromX = before(inserts ? k + 1 : k - 1);
            fromY = fromX - (inserts ? k + 1 : k - 1);
        }
        while (x > fromX && y > fromY && isFirst(x - 1, y - 1)) {
            --x;
            --y;
            pair(first.subspan(static_cast<std::size_t>(x), 1),
                second.subspan(static_cast<std::size_t>(y), 1), runs);
        }
        x = fromX;
        y = fromY;
    }
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
