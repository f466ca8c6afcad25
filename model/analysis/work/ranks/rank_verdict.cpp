// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/ranks/rank_verdict.h"

#include "model/base/units.h"

#include <algorithm>
#include <array>
#include <utility>

namespace strata::model {

namespace {

/// Kinds of RankCause: the uses of a device, then why it is idle.
constexpr std::size_t kUses = 2, kSpent = kUses + kWaitCauses;
using Spent = std::array<std::int64_t, kSpent>; // ns

/// What a rank did in some steps.
struct RankTimes {
    Spent spent{};
    WaitSums waits{};
};

/// Of steps from one to before another.
RankTimes timesOf(
    const RankWork& ranks, std::size_t rank, const RankTrace& trace, std::size_t first, std::size_t end)
{
    RankTimes times;
    Spent& spent = times.spent;
    std::optional<TimeSpan> range;
    for (std::size_t i = first; i < end; ++i)
        if (const auto& step = ranks.steps[i].ranks[rank]) {
            spent[0] += step->computationNs;
            spent[1] += step->copiesNs;
            range = range ? TimeSpan{ range->beginNs, step->time.endNs } : step->time;
        }
    if (!range)
        return times;
    times.waits = waitTimesOf(*trace.work, *trace.strings, *range).all;
    for (std::size_t cause = 0; cause < kWaitCauses; ++cause)
        if (static_cast<WaitCause>(cause) != WaitCause::Communication)
            spent[kUses + cause] = times.waits[cause].ns;
    return times;
}

/// What a rank spends more on than the median of the others, most of all.
std::optional<RankCause> causeOf(const RankWork& ranks, std::span<const RankTrace> traces,
    std::size_t slowest, std::size_t first, std::size_t end)
{
    std::vector<RankTimes> all;
    for (std::size_t rank = 0; rank < ranks.ranks.size(); ++rank)
        all.push_back(timesOf(ranks, rank, traces[ranks.traces[rank]], first, end));
    Spent more = all[slowest].spent;
    for (std::size_t kind = 0; kind < kSpent; ++kind) {
        std::vector<std::int64_t> others;
        for (std::size_t rank = 0; rank < all.size(); ++rank)
            if (rank != slowest)
                others.push_back(all[rank].spent[kind]);
        more[kind] -= spreadOf(std::move(others)).median;
    }
    const auto most = std::ranges::max_element(more);
    if (*most <= 0)
        return std::nullopt;
    const auto kind = static_cast<std::size_t>(most - more.begin());
    RankCause cause;
    cause.ns = *most / static_cast<std::int64_t>(end - first);
    cause.what = kind < kUses ? static_cast<RankCause::What>(kind) : RankCause::What::Idle;
    if (kind >= kUses) {
        cause.idle = static_cast<WaitCause>(kind - kUses);
        cause.wait = all[slowest].waits[kind - kUses];
        cause.place = std::string((*traces[ranks.traces[slowest]].strings)[cause.wait.most.name]);
    }
    return cause;
}

bool isShare(std::int64_t part, double share, std::int64_t whole)
{
    return static_cast<double>(part) > share * static_cast<double>(whole);
}

/// What a step would take less without what those ranks take longer than all others.
std::int64_t gainOf(const CommonStep& step, const std::vector<bool>& faster)
{
    std::int64_t longest = 0, rest = 0;
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
        if (const auto& of = step.ranks[rank]) {
            longest = std::max(longest, of->ownNs());
            if (!faster[rank])
                rest = std::max(rest, of->ownNs());
        }
    return rest > 0 ? longest - rest : 0;
}

/// The gains, and who else is late, of steps from one to before another.
void findGains(const RankWork& ranks, std::size_t first, std::size_t end, RankVerdict& verdict)
{
    const std::size_t slowest = *verdict.slowest;
    std::vector<std::size_t> lateSteps(ranks.ranks.size());
    for (std::size_t i = first; i < end; ++i) {
        const CommonStep& step = ranks.steps[i];
        const auto& longest = step.ranks[step.slowest];
        for (std::size_t rank = 0; longest && rank < step.ranks.size(); ++rank)
            if (const auto& of = step.ranks[rank])
                lateSteps[rank] += 2 * (longest->ownNs() - of->ownNs()) < step.leadNs ? 1 : 0;
    }
    std::vector<bool> faster(ranks.ranks.size());
    faster[slowest] = true;
    std::vector<bool> allFaster = faster;
    for (std::size_t rank = 0; rank < lateSteps.size(); ++rank)
        if (rank != slowest && 2 * lateSteps[rank] > end - first) {
            verdict.late.push_back(rank);
            allFaster[rank] = true;
        }
    for (std::size_t i = first; i < end; ++i) {
        verdict.gainNs += gainOf(ranks.steps[i], faster);
        verdict.lateGainNs += gainOf(ranks.steps[i], allFaster);
    }
    verdict.gainNs /= static_cast<std::int64_t>(end - first);
    verdict.lateGainNs /= static_cast<std::int64_t>(end - first);
}

/// Their leads make up most of all, and without them the ranks are even.
bool areFew(const RankWork& ranks)
{
    std::int64_t leads = 0, longLeads = 0, others = 0, othersNs = 0;
    std::size_t count = 0;
    for (const CommonStep& step : ranks.steps) {
        leads += step.leadNs;
        if (isShare(step.leadNs, kLongWaitShare, step.ns())) {
            ++count;
            longLeads += step.leadNs;
        } else {
            others += step.leadNs;
            othersNs += step.ns();
        }
    }
    return count > 0 && ranks.steps.size() >= 4 && count <= std::max<std::size_t>(ranks.steps.size() / 10, 1)
        && longLeads * 2 > leads && !isShare(others, kEvenShare, othersNs);
}

} // namespace

std::string_view rankBalanceWord(RankBalance balance)
{
    static constexpr std::array<std::string_view, 6> kWords{ "none", "even", "straggler", "varying",
        "few_steps", "unrelated" };
    return kWords[static_cast<std::size_t>(balance)];
}

std::string_view RankCause::word() const
{
    return what == What::Computation ? "computation" : what == What::Copies ? "copies" : waitCauseWord(idle);
}

RankVerdict rankVerdictOf(const RankWork& ranks, std::span<const RankTrace> traces)
{
    RankVerdict verdict;
    verdict.slowestSteps.resize(ranks.ranks.size());
    if (ranks.steps.empty())
        return verdict;
    if (!areOfOneRun(ranks)) {
        verdict.balance = RankBalance::Unrelated;
        return verdict;
    }
    const auto count = std::ssize(ranks.steps);
    std::int64_t leads = 0, all = 0;
    std::vector<std::int64_t> clear(ranks.ranks.size()); // steps in which it is the slowest, and others wait
    for (const CommonStep& step : ranks.steps) {
        leads += step.leadNs;
        all += step.ns();
        ++verdict.slowestSteps[step.slowest];
        clear[step.slowest] += isShare(step.leadNs, kEvenShare, step.ns()) ? 1 : 0;
    }
    const auto worst = std::ranges::max_element(ranks.steps, {}, &CommonStep::leadNs);
    verdict.worst = static_cast<std::size_t>(worst - ranks.steps.begin());
    verdict.leadNs = leads / count;
    verdict.stepNs = all / count;
    const auto most = std::ranges::max_element(clear);
    std::size_t first = *verdict.worst, end = first + 1;
    if (areFew(ranks)) {
        verdict.balance = RankBalance::FewSteps;
    } else if (!isShare(leads, kEvenShare, all)) {
        verdict.balance = RankBalance::Even;
        return verdict;
    } else if (isShare(*most, kStragglerShare, count) || *most * 2 == count) {
        verdict.balance = RankBalance::Straggler;
        verdict.slowest = static_cast<std::size_t>(most - clear.begin());
        first = 0;
        end = ranks.steps.size();
    } else {
        verdict.balance = RankBalance::Varying;
    }
    if (!verdict.slowest)
        verdict.slowest = worst->slowest;
    findGains(ranks, first, end, verdict);
    verdict.cause = causeOf(ranks, traces, *verdict.slowest, first, end);
    return verdict;
}

namespace {

Sentence sayCause(const RankCause& cause)
{
    const std::string more = formatDuration(cause.ns);
    switch (cause.what) {
    case RankCause::What::Computation:
        return say("It computes for %1 longer than the others: look at what it is given (longer sequences, "
                   "larger batches, an uneven split), and at the clock and temperature of its GPU.",
            more);
    case RankCause::What::Copies:
        return say("It copies for %1 longer than the others: look at what it moves, and at how its GPU is "
                   "connected.",
            more);
    case RankCause::What::Idle:
        break;
    }
    return say("Its GPU is idle for %1 longer than the others', while %2. What would help: %3.", more,
        Sentence(waitCauseText(cause.idle)), Sentence(waitRemedy(cause.idle, cause.wait, cause.place)));
}

/// "rank 1", "rank 1, rank 4".
Sentence sayRankList(const RankWork& ranks, const std::vector<std::size_t>& list)
{
    Sentence all;
    for (const std::size_t rank : list) {
        Sentence one = say("rank %1", ranks.ranks[rank]);
        all = all.empty() ? std::move(one) : say("%1, %2", std::move(all), std::move(one));
    }
    return all;
}

} // namespace

std::vector<Sentence> sayRanks(const RankWork& ranks, const RankVerdict& verdict)
{
    std::vector<Sentence> said;
    const std::int64_t there = std::ssize(ranks.ranks);
    const std::int64_t steps = std::ssize(ranks.steps);
    const std::string lead = formatDuration(verdict.leadNs);
    const std::string share = formatShare(verdict.leadNs, verdict.stepNs);
    const auto rank = [&] { return ranks.ranks[*verdict.slowest]; };
    switch (verdict.balance) {
    case RankBalance::None:
        said.push_back(there < 2 ? say("All of these traces are of one rank: nothing can be compared.")
                : areOfOneRun(ranks)
                ? say("No two of the ranks made the same step: nothing can be compared.")
                : say("No two of these traces hold the same step, and nothing shows that "
                      "they are of one run: nothing can be compared."));
        break;
    case RankBalance::Unrelated:
        said.push_back(say("Nothing in these traces shows that they are of one run: they tell of no job, and "
                           "have no collective in common. So they stand beside each other, and none is "
                           "waited for."));
        break;
    case RankBalance::Even:
        said.push_back(say(
            "The ranks are even: in a step the others wait for the slowest one for %1 (%2).", lead, share));
        break;
    case RankBalance::Straggler:
        if (!verdict.late.empty()) {
            said.push_back(say("Rank %1 is the slowest in %2 of %3 steps, and as late: %4.", rank(),
                verdict.slowestSteps[*verdict.slowest], steps, sayRankList(ranks, verdict.late)));
            said.push_back(say("If rank %1 alone was as fast as the others, a step would take %2 less (%3).",
                rank(), formatDuration(verdict.gainNs), formatShare(verdict.gainNs, verdict.stepNs)));
            said.push_back(say("If all of these ranks were, a step would take %1 less (%2).",
                formatDuration(verdict.lateGainNs), formatShare(verdict.lateGainNs, verdict.stepNs)));
            break;
        }
        said.push_back(haveCollectives(ranks)
                ? say("Rank %1 is the slowest in %2 of %3 steps: the others wait for it.", rank(),
                    verdict.slowestSteps[*verdict.slowest], steps)
                : say("Rank %1 is the slowest in %2 of %3 steps.", rank(),
                    verdict.slowestSteps[*verdict.slowest], steps));
        said.push_back(say("If it was as fast as they are, a step would take %1 less (%2).",
            formatDuration(verdict.gainNs), formatShare(verdict.gainNs, verdict.stepNs)));
        break;
    case RankBalance::Varying:
        said.push_back(say("Each step waits for another rank: for %1 (%2), in the mean.", lead, share));
        said.push_back(say("The longest wait is for rank %1 in %2: %3.", rank(),
            ranks.steps[*verdict.worst].name, formatDuration(ranks.steps[*verdict.worst].leadNs)));
        break;
    case RankBalance::FewSteps:
        said.push_back(say("The ranks are even but for few steps: in %1 the others wait for rank %2 for %3.",
            ranks.steps[*verdict.worst].name, rank(), formatDuration(ranks.steps[*verdict.worst].leadNs)));
        break;
    }
    if (verdict.cause)
        said.push_back(sayCause(*verdict.cause));
    if (there > 1 && ranks.worldSize && !haveCollectives(ranks))
        said.push_back(
            say("No collective is in these traces: whether one rank waits for another is not seen."));
    if (ranks.doubled > 0)
        said.push_back(say("%1 of a rank or a process that one before it is of, too: left out.",
            sayCounted("%1 trace is", "%1 traces are each", ranks.doubled)));
    if (ranks.worldSize && *ranks.worldSize > there)
        said.push_back(say(
            "Of the job's %1 ranks %2 are here: the slowest may be another one.", *ranks.worldSize, there));
    return said;
}

} // namespace strata::model
