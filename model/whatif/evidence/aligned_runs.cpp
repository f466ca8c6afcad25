// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/evidence/aligned_runs.h"

#include "model/whatif/run/common_part.h"

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace strata::model {

namespace {

/// A request or a free of a recording.
struct RunToken {
    EventIndex event = 0;
    std::uint32_t block = AlignedRuns::kNone; ///< row of what was born; of a request
    std::uint32_t older = AlignedRuns::kNone; ///< row of what is from before recording; of the end of a free
    std::int64_t what = 0; ///< the same where events can be the same
    std::int64_t site = 0; ///< that, and where the program asks for it
};

/// Stacks by what stands in them: numbers differ from run to run.
class Sites {
public:
    explicit Sites(const Recording& recording)
        : m_recording(recording)
    {
    }

    [[nodiscard]] std::int64_t of(StackId stack)
    {
        const auto [known, isNew] = m_known.try_emplace(stack.value, 0);
        if (!isNew)
            return known->second;
        std::uint64_t hash = 0;
        const auto mix = [&](std::uint64_t value) {
            constexpr std::uint64_t kSpread = 0x9E3779B97F4A7C15;
            constexpr int kHalf = 32;
            hash = (hash ^ value) * kSpread;
            hash ^= hash >> kHalf;
        };
        for (const FrameId id : m_recording.stacks.stack(stack)) {
            const Frame& frame = m_recording.stacks.frame(id);
            mix(textOf(frame.file));
            mix(textOf(frame.function));
            mix(static_cast<std::uint64_t>(frame.line));
        }
        return known->second = static_cast<std::int64_t>(hash);
    }

private:
    [[nodiscard]] std::uint64_t textOf(StringId text) const
    {
        return text.valid() ? std::hash<std::string_view>()(m_recording.strings[text]) : 0;
    }

    const Recording& m_recording;
    std::unordered_map<std::uint32_t, std::int64_t> m_known;
};

std::vector<RunToken> runTokensOf(const DeviceTrace& trace)
{
    const EventColumns& events = trace.events();
    std::vector<RunToken> tokens;
    for (std::size_t row = 0; row < events.action.size(); ++row) {
        const Action action = events.action[row];
        if (action != Action::Alloc && action != Action::FreeRequested && action != Action::FreeCompleted)
            continue;
        // Streams by the order of their first appearance: as handles they differ from run to run.
        const int kind = action == Action::Alloc ? 0 : action == Action::FreeRequested ? 1 : 2;
        const std::int64_t what = events.stream[row] * std::int64_t{ 4 } + kind;
        RunToken token{ .event = static_cast<EventIndex>(row), .what = what, .site = what };
        const BlockId block = events.block[row];
        if (action == Action::Alloc && block.valid() && !block.isOlder())
            token.block = static_cast<std::uint32_t>(block.row());
        else if (action == Action::FreeCompleted && block.valid() && block.isOlder())
            token.older = static_cast<std::uint32_t>(block.row());
        tokens.push_back(token);
    }
    return tokens;
}

/// Where requests are made, which only those need that differ.
void addSites(const DeviceTrace& trace, std::vector<RunToken>& tokens)
{
    Sites sites(trace.recording());
    const EventColumns& events = trace.events();
    for (RunToken& token : tokens)
        if (const auto row = static_cast<std::size_t>(token.event); events.action[row] == Action::Alloc)
            token.site = token.what ^ sites.of(events.stack[row]);
}

using Tokens = std::span<const RunToken>;

bool same(const RunToken& a, const RunToken& b)
{
    return a.what == b.what;
}

void pair(Tokens first, Tokens second, AlignedRuns& runs)
{
    for (std::size_t i = 0; i < first.size(); ++i)
        if (first[i].block != AlignedRuns::kNone)
            runs.other[first[i].block] = second[i].block;
        else if (first[i].older != AlignedRuns::kNone)
            runs.older[first[i].older] = second[i].older;
}

std::vector<std::uint32_t> partnersBy(Tokens first, Tokens second, std::int64_t RunToken::*value)
{
    std::vector<std::int64_t> ones(first.size()), others(second.size());
    std::ranges::transform(first, ones.begin(), value);
    std::ranges::transform(second, others.begin(), value);
    return commonPart(ones, others);
}

void alignDiffering(Tokens first, Tokens second, AlignedRuns& runs)
{
    // What is asked for at the same place of the program, unless places tell the two runs apart.
    std::vector<std::uint32_t> partners = partnersBy(first, second, &RunToken::site);
    const auto found = [](const std::vector<std::uint32_t>& all) {
        return std::ranges::count_if(all, [](std::uint32_t one) { return one != kNoPartner; });
    };
    constexpr std::ptrdiff_t kOfTen = 9;
    if (found(partners) < static_cast<std::ptrdiff_t>(std::min(first.size(), second.size())))
        if (auto byKind = partnersBy(first, second, &RunToken::what);
            10 * found(partners) < kOfTen * found(byKind))
            partners = std::move(byKind);
    for (std::size_t i = 0; i < partners.size(); ++i)
        if (partners[i] != kNoPartner)
            pair(first.subspan(i, 1), second.subspan(partners[i], 1), runs);
}

/// The first events of phases, in order; those of steps.
std::vector<std::pair<Phase, EventIndex>> phaseStartsOf(const TrainingSteps& steps)
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
    runs.older.assign(first.blocks().olderCount(), AlignedRuns::kNone);
    std::vector<RunToken> a = runTokensOf(first), b = runTokensOf(second);
    runs.equal = std::ranges::equal(a, b, same);
    if (runs.equal) {
        pair(a, b, runs);
        return runs;
    }
    addSites(first, a);
    addSites(second, b);
    auto phasesA = phaseStartsOf(firstSteps), phasesB = phaseStartsOf(secondSteps);
    const auto kind = [](const auto& phase) { return phase.first; };
    if (!std::ranges::equal(phasesA, phasesB, {}, kind, kind)) {
        phasesA.clear();
        phasesB.clear();
    }
    phasesA.emplace_back(Phase::Unknown, first.eventCount());
    phasesB.emplace_back(Phase::Unknown, second.eventCount());
    auto beginA = a.begin(), beginB = b.begin();
    for (std::size_t i = 0; i < phasesA.size(); ++i) {
        const auto endA = std::ranges::lower_bound(beginA, a.end(), phasesA[i].second, {}, &RunToken::event);
        const auto endB = std::ranges::lower_bound(beginB, b.end(), phasesB[i].second, {}, &RunToken::event);
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
