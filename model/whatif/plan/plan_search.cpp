// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/whatif/plan/plan_search.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace strata::model {

namespace {

/// Replays of one search, by the events of the trace; behind that the cheapest choice is no longer looked for
/// among all, and choices are no longer made cheaper.
constexpr std::int64_t kMostReplays = 600, kFewestReplays = 60, kReplayedEvents = 30'000'000;
/// Times that a greedy choice which does not meet the budget is made to save more.
constexpr int kMostRounds = 40;
/// Of these, those of exchanges of one choice.
constexpr std::size_t kExchanges = 10; // a tenth

} // namespace

PlanSearch::PlanSearch(const CheckpointRegions& regions, const StepCurve& curve,
    const std::vector<PlanCandidate>& candidates, std::int64_t events, std::int64_t budgetBytes, Asks likely,
    Asks most)
    : m_regions(regions)
    , m_curve(curve)
    , m_candidates(candidates)
    , m_mostReplays(static_cast<std::size_t>(
          std::clamp(kReplayedEvents / std::max<std::int64_t>(events, 1), kFewestReplays, kMostReplays)))
    , m_budget(budgetBytes)
    , m_askLikely(std::move(likely))
    , m_askMost(std::move(most))
{
}

Result<PlanSearch::Found> PlanSearch::find()
{
    Found found;
    auto nothing = likely({});
    if (!nothing)
        return Failure(nothing.error());
    const auto met = meets({});
    if (!met)
        return Failure(met.error());
    if (*met) {
        found.met = Choice{};
        found.exact = true;
        return found;
    }
    bool isDone = false;
    if (m_candidates.size() <= kExactModules) {
        const auto tried = tryAll(found);
        if (!tried)
            return Failure(tried.error());
        isDone = *tried;
    }
    if (!isDone)
        if (const auto grown = grow(found); !grown)
            return Failure(grown.error());
    found.exact = isDone;
    if (found.met)
        return found;
    // The way to what needs least does not lead past all that leads there, nor is all of it needed.
    found.least = m_least;
    const auto reached = meets(found.least);
    if (!reached)
        return Failure(reached.error());
    if (*reached)
        found.met = found.least;
    const auto most = m_askMost(found.least);
    if (!most)
        return Failure(most.error());
    if (!found.met)
        m_budget = *most;
    if (const auto cheaper = makeCheaper(found.met ? *found.met : found.least); !cheaper)
        return Failure(cheaper.error());
    return found;
}

Result<std::int64_t> PlanSearch::likely(const Choice& choice)
{
    if (const auto known = m_known.find(choice); known != m_known.end())
        return known->second;
    const auto bytes = m_askLikely(choice);
    if (!bytes)
        return bytes;
    if (m_known.empty() || *bytes < m_leastBytes) {
        m_leastBytes = *bytes;
        m_least = choice;
    }
    m_known.emplace(choice, *bytes);
    return bytes;
}

Result<bool> PlanSearch::meets(const Choice& choice)
{
    if (stepPeak(choice, m_budget).requestedBytes > m_budget)
        return false;
    const auto bytes = likely(choice);
    if (!bytes)
        return Failure(bytes.error());
    if (*bytes > m_budget)
        return false;
    const auto most = m_askMost(choice);
    if (!most)
        return Failure(most.error());
    return *most <= m_budget;
}

StepCurve::Peak PlanSearch::stepPeak(const Choice& choice, std::int64_t limitBytes) const
{
    std::vector<const CheckpointRegion*> regions;
    for (const std::size_t candidate : choice)
        for (const CheckpointRegion& region : m_candidates[candidate].regions)
            regions.push_back(&region);
    return m_curve.peak(m_regions.edits(regions), limitBytes);
}

std::int64_t PlanSearch::costOf(const Choice& choice) const
{
    std::int64_t cost = 0;
    for (const std::size_t candidate : choice)
        cost += m_candidates[candidate].module.recompute;
    return cost;
}

bool PlanSearch::isOneWithin(const Choice& choice) const
{
    return std::ranges::any_of(choice, [&](std::size_t candidate) {
        return std::ranges::any_of(m_candidates[candidate].within,
            [&](std::size_t outer) { return std::ranges::binary_search(choice, outer); });
    });
}

std::optional<PlanSearch::Choice> PlanSearch::with(const Choice& choice, std::size_t candidate) const
{
    const auto isWithin = [&](std::size_t inner, std::size_t outer) {
        const std::vector<std::size_t>& within = m_candidates[inner].within;
        return inner == outer || std::ranges::find(within, outer) != within.end();
    };
    Choice more;
    for (const std::size_t each : choice) {
        if (isWithin(candidate, each))
            return std::nullopt;
        if (!isWithin(each, candidate))
            more.push_back(each);
    }
    more.insert(std::ranges::upper_bound(more, candidate), candidate);
    return more;
}

/// False: there were too many to look at.
Result<bool> PlanSearch::tryAll(Found& found)
{
    struct Priced {
        std::int64_t cost = 0;
        Choice choice;
    };
    std::vector<Priced> all;
    for (std::uint32_t bits = 1; bits < std::uint32_t{ 1 } << m_candidates.size(); ++bits) {
        Choice choice;
        for (std::size_t candidate = 0; candidate < m_candidates.size(); ++candidate)
            if ((bits >> candidate & 1) != 0)
                choice.push_back(candidate);
        if (!isOneWithin(choice)) {
            const std::int64_t cost = costOf(choice);
            all.push_back({ cost, std::move(choice) });
        }
    }
    std::ranges::stable_sort(all, [](const Priced& a, const Priced& b) {
        return std::pair(a.cost, a.choice.size()) < std::pair(b.cost, b.choice.size());
    });
    std::vector<std::pair<std::int64_t, const Choice*>> rest; // that cannot meet it, by what they request
    for (const Priced& priced : all) {
        const std::int64_t requested = stepPeak(priced.choice, m_budget).requestedBytes;
        if (requested > m_budget) {
            rest.emplace_back(requested, &priced.choice);
            continue;
        }
        if (m_known.size() >= m_mostReplays)
            return false;
        const auto met = meets(priced.choice);
        if (!met)
            return Failure(met.error());
        if (*met) {
            found.met = priced.choice;
            return true;
        }
    }
    std::ranges::sort(rest);
    for (const auto& [requested, choice] : rest) {
        if (requested >= m_leastBytes)
            break; // it reserves as much at least, and so do those behind it
        if (m_known.size() >= m_mostReplays)
            return false;
        if (const auto bytes = likely(*choice); !bytes)
            return Failure(bytes.error());
    }
    return true;
}

/// The one more that takes most of what lies above a limit for what it costs.
std::optional<PlanSearch::Choice> PlanSearch::best(const Choice& choice, std::int64_t limitBytes) const
{
    const double above = stepPeak(choice, limitBytes).bytesAbove;
    const std::int64_t cost = costOf(choice);
    std::optional<Choice> chosen;
    double most = 0;
    for (std::size_t candidate = 0; candidate < m_candidates.size(); ++candidate) {
        auto more = with(choice, candidate);
        if (!more)
            continue;
        const double taken = above - stepPeak(*more, limitBytes).bytesAbove;
        if (taken <= 0)
            continue;
        const double worth = taken / static_cast<double>(std::max<std::int64_t>(costOf(*more) - cost, 1));
        if (worth > most) {
            most = worth;
            chosen = std::move(more);
        }
    }
    return chosen;
}

Result<void> PlanSearch::grow(Found& found)
{
    if (const auto levels = tryLevels(found); !levels)
        return levels;
    Choice choice;
    const auto reserved = likely(choice);
    if (!reserved)
        return Failure(reserved.error());
    // What is reserved beyond what is requested stays about the same.
    std::int64_t limit = m_budget - std::max<std::int64_t>(*reserved - stepPeak(choice, 0).requestedBytes, 0);
    for (int round = 0; round < kMostRounds; ++round) {
        while (stepPeak(choice, limit).bytesAbove > 0) {
            auto more = best(choice, limit);
            if (!more)
                break;
            choice = std::move(*more);
        }
        const auto met = meets(choice);
        if (!met)
            return Failure(met.error());
        if (*met) {
            if (const auto cheaper = makeCheaper(choice); !cheaper)
                return cheaper;
            if (!found.met || costOf(choice) < costOf(*found.met))
                found.met = choice;
            break;
        }
        const std::int64_t requested = stepPeak(choice, limit).requestedBytes;
        const auto bytes = likely(choice);
        if (!bytes)
            return Failure(bytes.error());
        // Below what is requested now, or nothing more would be taken.
        constexpr std::int64_t kLeastBytes = std::int64_t{ 1 } << 20;
        limit = std::min(limit, requested) - std::max(*bytes - m_budget, kLeastBytes);
        if (!best(choice, limit))
            break;
    }
    return {};
}

/// All modules of a class, the outermost of all: what a program would do by hand.
Result<void> PlanSearch::tryLevels(Found& found)
{
    std::vector<Choice> levels;
    Choice outermost;
    std::map<std::string_view, Choice> classes;
    for (std::size_t candidate = 0; candidate < m_candidates.size(); ++candidate) {
        if (m_candidates[candidate].within.empty())
            outermost.push_back(candidate);
        Choice& same = classes[m_candidates[candidate].module.type];
        if (auto more = with(same, candidate))
            same = std::move(*more);
    }
    levels.push_back(std::move(outermost));
    for (auto& [name, same] : classes)
        levels.push_back(std::move(same));
    for (Choice& level : levels) {
        const auto met = meets(level);
        if (!met)
            return Failure(met.error());
        if (!*met) {
            if (stepPeak(level, m_budget).requestedBytes < m_leastBytes)
                if (const auto bytes = likely(level); !bytes)
                    return Failure(bytes.error());
            continue;
        }
        if (const auto cheaper = makeCheaper(level); !cheaper)
            return cheaper;
        if (!found.met || costOf(level) < costOf(*found.met))
            found.met = std::move(level);
    }
    return {};
}

/// Leaves out what is not needed, the most costly first, and takes cheaper modules for others.
Result<void> PlanSearch::makeCheaper(Choice& choice)
{
    const auto leaveOut = [&]() -> Result<void> {
        Choice byCost = choice;
        std::ranges::stable_sort(byCost, std::ranges::greater{},
            [&](std::size_t candidate) { return m_candidates[candidate].module.recompute; });
        for (const std::size_t candidate : byCost) {
            Choice fewer = choice;
            std::erase(fewer, candidate);
            const auto met = meets(fewer);
            if (!met)
                return Failure(met.error());
            if (*met)
                choice = std::move(fewer);
        }
        return {};
    };
    if (const auto left = leaveOut(); !left)
        return left;
    struct Exchange {
        std::int64_t cost = 0;
        Choice choice;
    };
    std::vector<Exchange> exchanges;
    const std::int64_t cost = costOf(choice);
    for (const std::size_t out : choice) {
        Choice fewer = choice;
        std::erase(fewer, out);
        for (std::size_t in = 0; in < m_candidates.size(); ++in) {
            auto other = in == out ? std::nullopt : with(fewer, in);
            if (other && costOf(*other) < cost)
                exchanges.push_back({ costOf(*other), std::move(*other) });
        }
    }
    std::ranges::stable_sort(exchanges, {}, &Exchange::cost);
    std::size_t looks = 0;
    for (Exchange& exchange : exchanges) {
        if (stepPeak(exchange.choice, m_budget).requestedBytes > m_budget)
            continue;
        if (++looks > m_mostReplays / kExchanges || m_known.size() >= m_mostReplays)
            break;
        const auto met = meets(exchange.choice);
        if (!met)
            return Failure(met.error());
        if (*met) {
            choice = std::move(exchange.choice);
            return leaveOut();
        }
    }
    return {};
}

} // namespace strata::model
