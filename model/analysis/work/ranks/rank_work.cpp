// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/ranks/rank_work.h"

#include "model/analysis/work/waits/wait_causes.h"

#include <algorithm>
#include <map>
#include <set>

namespace strata::model {

namespace {

/// Steps of one rank, and what its device and threads did at all.
class Rank {
public:
    explicit Rank(const RankTrace& of)
    {
        steps = profilerStepsOf(*of.work, *of.strings);
        all = timeOf(*of.work);
        std::vector<TimeSpan> uses[3], collectives;
        for (const WorkSpan& span : of.work->spans) {
            const TimeSpan time{ span.startNs, span.endNs() };
            const std::string_view name = (*of.strings)[span.name];
            if (isDeviceWork(span.kind)) {
                const WorkUse use = useOf(name);
                uses[static_cast<std::size_t>(use)].push_back(time);
                if (use == WorkUse::Communication)
                    m_ends.push_back(time);
            } else if ((span.kind == WorkKind::Operator || span.kind == WorkKind::Annotation)
                && isCollective(name)) {
                collectives.push_back(time);
            }
        }
        std::vector<TimeSpan> others = uses[0];
        others.insert(others.end(), uses[2].begin(), uses[2].end());
        collectives.insert(collectives.end(), uses[1].begin(), uses[1].end());
        m_computation = unionOf(std::move(uses[0]));
        m_copies = unionOf(std::move(uses[2]));
        m_exposed = differenceOf(unionOf(std::move(collectives)), unionOf(std::move(others)));
        std::ranges::sort(m_ends, {}, &TimeSpan::endNs);
    }

    [[nodiscard]] RankStep stepAt(const TimeSpan& time) const
    {
        return { time, within(m_exposed, time), 0, within(m_computation, time), within(m_copies, time) };
    }
    /// Of the last collective that ends in a time.
    [[nodiscard]] std::optional<std::int64_t> lastCollectiveEnd(const TimeSpan& time) const
    {
        const auto behind = std::ranges::upper_bound(m_ends, time.endNs, {}, &TimeSpan::endNs);
        if (behind == m_ends.begin() || std::prev(behind)->endNs <= time.beginNs)
            return std::nullopt;
        return std::prev(behind)->endNs;
    }

    std::int64_t number = 0;
    std::size_t trace = 0; ///< which of those that were given
    std::vector<ProfilerStep> steps;
    TimeSpan all;

private:
    /// Of times that do not touch, those that lie around are found by search.
    [[nodiscard]] static std::int64_t within(const Times& times, const TimeSpan& time)
    {
        std::int64_t ns = 0;
        for (auto at = std::ranges::lower_bound(times, time.beginNs, std::less_equal<>(), &TimeSpan::endNs);
             at != times.end() && at->beginNs < time.endNs; ++at)
            ns += TimeSpan{ std::max(at->beginNs, time.beginNs), std::min(at->endNs, time.endNs) }.ns();
        return ns;
    }

    Times m_computation, m_copies, m_exposed;
    std::vector<TimeSpan> m_ends; // of collectives of the device
};

struct StepPlaces {
    std::set<std::int64_t> processes;
    std::set<int> devices;

    explicit StepPlaces(const Work& work)
    {
        for (const WorkLane& lane : work.lanes)
            if (lane.device)
                devices.insert(*lane.device);
            else
                processes.insert(lane.process);
        processes.erase(0);
    }
};

template <class Number> bool haveCommon(const std::set<Number>& one, const std::set<Number>& other)
{
    return std::ranges::any_of(one, [&](Number each) { return other.contains(each); });
}

/// In the order of their numbers, of the same one or the same process the first.
std::vector<Rank> ranksOf(std::span<const RankTrace> traces)
{
    std::map<std::int64_t, std::size_t> byNumber;
    const bool numbered
        = std::ranges::all_of(traces, [](const RankTrace& trace) { return trace.work->rank.has_value(); });
    for (std::size_t i = 0; i < traces.size(); ++i) {
        const bool isTwice = std::ranges::any_of(byNumber,
            [&](const auto& each) { return areOfOneProcess(*traces[each.second].work, *traces[i].work); });
        if (!isTwice)
            byNumber.try_emplace(numbered ? *traces[i].work->rank : static_cast<std::int64_t>(i), i);
    }
    std::vector<Rank> ranks;
    for (const auto& [number, trace] : byNumber) {
        Rank& rank = ranks.emplace_back(traces[trace]);
        rank.number = number;
        rank.trace = trace;
    }
    return ranks;
}

/// Steps that several ranks made: by number where all have one, else by their place.
std::vector<CommonStep> commonSteps(const std::vector<Rank>& ranks)
{
    const bool hasSteps = std::ranges::any_of(ranks, [](const Rank& rank) { return !rank.steps.empty(); });
    const bool numbered = std::ranges::all_of(ranks, [](const Rank& rank) {
        return std::ranges::all_of(rank.steps, [](const ProfilerStep& step) { return step.number >= 0; });
    });
    std::map<std::int64_t, CommonStep> byNumber;
    const auto add = [&](std::size_t rank, std::int64_t key, const TimeSpan& time) -> CommonStep& {
        CommonStep& step = byNumber[key];
        step.ranks.resize(ranks.size());
        if (!step.ranks[rank])
            step.ranks[rank] = ranks[rank].stepAt(time);
        return step;
    };
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        if (!hasSteps)
            add(rank, 0, ranks[rank].all);
        for (std::size_t i = 0; i < ranks[rank].steps.size(); ++i) {
            const ProfilerStep& each = ranks[rank].steps[i];
            CommonStep& step = add(rank, numbered ? each.number : static_cast<std::int64_t>(i), each.time);
            step.name = each.name;
            step.number = each.number;
        }
    }
    std::vector<CommonStep> steps;
    for (auto& [key, step] : byNumber)
        if (std::ranges::count_if(step.ranks, [](const auto& of) { return of.has_value(); }) >= 2)
            steps.push_back(std::move(step));
    return steps;
}

void findSlowest(CommonStep& step)
{
    std::int64_t least = INT64_MAX;
    for (const auto& of : step.ranks)
        if (of)
            least = std::min(least, of->exposedNs);
    std::int64_t longest = -1;
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
        if (!step.ranks[rank])
            continue;
        step.ranks[rank]->waitedNs = step.ranks[rank]->exposedNs - least;
        if (step.ranks[rank]->ownNs() > longest) {
            longest = step.ranks[rank]->ownNs();
            step.slowest = rank;
        }
    }
    std::vector<std::int64_t> others;
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
        if (step.ranks[rank] && rank != step.slowest)
            others.push_back(step.ranks[rank]->ownNs());
    step.leadNs = longest - spreadOf(std::move(others)).median;
}

std::optional<RankClock> clockOf(
    const Rank& first, const Rank& rank, std::size_t place, const std::vector<CommonStep>& steps)
{
    std::vector<std::int64_t> offsets;
    for (const CommonStep& step : steps) {
        if (!step.ranks.front() || !step.ranks[place])
            continue;
        const auto there = first.lastCollectiveEnd(step.ranks.front()->time);
        const auto here = rank.lastCollectiveEnd(step.ranks[place]->time);
        if (there && here)
            offsets.push_back(*here - *there);
    }
    if (offsets.empty())
        return std::nullopt;
    const std::int64_t count = std::ssize(offsets);
    const Spread spread = spreadOf(std::move(offsets));
    return RankClock{ spread.median, (spread.upper - spread.lower) / 2, count };
}

/// The longest of the ranks' times of each, as steps of their own: which of them warm up.
std::int64_t commonWarmupsOf(const std::vector<CommonStep>& steps)
{
    std::vector<ProfilerStep> longest;
    for (const CommonStep& step : steps)
        longest.push_back({ step.name, step.number, { 0, step.ns() }, 0 });
    const std::int64_t warmups = model::warmupsOf(longest);
    return warmups < std::ssize(longest) ? warmups : 0; // of one alone that is shown
}

} // namespace

std::int64_t CommonStep::ns() const
{
    std::int64_t longest = 0;
    for (const auto& of : ranks)
        longest = std::max(longest, of ? of->time.ns() : 0);
    return longest;
}

bool haveCollectives(const RankWork& ranks)
{
    const auto isIn = [](const auto& of) { return of && of->exposedNs > 0; };
    return std::ranges::any_of(
        ranks.steps, [&](const CommonStep& step) { return std::ranges::count_if(step.ranks, isIn) >= 2; });
}

bool areOfOneRun(const RankWork& ranks)
{
    if (ranks.worldSize.value_or(0) > 1)
        return true;
    std::vector<bool> isIn(ranks.ranks.size());
    for (const CommonStep& step : ranks.steps)
        for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
            isIn[rank] = isIn[rank] || (step.ranks[rank] && step.ranks[rank]->exposedNs > 0);
    return isIn.size() > 1 && std::ranges::all_of(isIn, std::identity());
}

RankSums rankSumsOf(const RankWork& ranks, std::size_t rank)
{
    RankSums sums;
    std::vector<std::int64_t> own, waited, computation, copies;
    for (const CommonStep& step : ranks.steps) {
        const auto& of = step.ranks[rank];
        if (!of)
            continue;
        ++sums.steps;
        sums.slowestSteps += step.slowest == rank && step.leadNs > 0 ? 1 : 0;
        own.push_back(of->ownNs());
        waited.push_back(of->waitedNs);
        computation.push_back(of->computationNs);
        copies.push_back(of->copiesNs);
    }
    sums.ownNs = spreadOf(std::move(own)).median;
    sums.waitedNs = spreadOf(std::move(waited)).median;
    sums.computationNs = spreadOf(std::move(computation)).median;
    sums.copiesNs = spreadOf(std::move(copies)).median;
    return sums;
}

bool areOfOneProcess(const Work& one, const Work& other)
{
    if (one.rank && other.rank && *one.rank != *other.rank)
        return false;
    const TimeSpan mine = timeOf(one), theirs = timeOf(other);
    if (mine.beginNs >= theirs.endNs || theirs.beginNs >= mine.endNs)
        return false;
    const StepPlaces here(one), there(other);
    return haveCommon(here.processes, there.processes) && haveCommon(here.devices, there.devices);
}

RankWork rankWorkOf(std::span<const RankTrace> traces)
{
    const std::vector<Rank> ranks = ranksOf(traces);
    RankWork found;
    for (const Rank& rank : ranks) {
        found.ranks.push_back(rank.number);
        found.traces.push_back(rank.trace);
    }
    found.doubled = std::ssize(traces) - std::ssize(ranks);
    const auto& size = traces.empty() ? std::nullopt : traces.front().work->ranks;
    if (std::ranges::all_of(traces, [&](const RankTrace& trace) { return trace.work->ranks == size; }))
        found.worldSize = size;
    found.steps = commonSteps(ranks);
    for (std::size_t rank = 0; rank < ranks.size(); ++rank)
        found.clocks.push_back(clockOf(ranks.front(), ranks[rank], rank, found.steps));
    found.warmups = commonWarmupsOf(found.steps);
    found.steps.erase(found.steps.begin(), found.steps.begin() + found.warmups);
    for (CommonStep& step : found.steps)
        findSlowest(step);
    return found;
}

} // namespace strata::model
