// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/analysis/work/ranks/ranks_answer.h"

#include <utility>

namespace strata::model {

namespace {

template <class T>
std::vector<OfRank<T>> numbered(const RankWork& work, const std::vector<std::optional<T>>& byRank)
{
    std::vector<OfRank<T>> rows;
    for (std::size_t rank = 0; rank < byRank.size(); ++rank)
        if (byRank[rank])
            rows.push_back({ work.ranks[rank], *byRank[rank] });
    return rows;
}

} // namespace

RanksAnswer::RanksAnswer(std::vector<RankTrace> given)
    : traces(std::move(given))
    , work(rankWorkOf(traces))
    , verdict(rankVerdictOf(work, traces))
{
}

std::vector<OfRank<RankStep>> RanksAnswer::ranksIn(const CommonStep& step) const
{
    return numbered(work, step.ranks);
}

std::vector<OfRank<RankSums>> RanksAnswer::sums() const
{
    std::vector<OfRank<RankSums>> rows;
    for (std::size_t rank = 0; rank < work.ranks.size(); ++rank)
        rows.push_back({ work.ranks[rank], rankSumsOf(work, rank) });
    return rows;
}

std::vector<OfRank<RankClock>> RanksAnswer::clocks() const
{
    return numbered(work, work.clocks);
}

} // namespace strata::model
