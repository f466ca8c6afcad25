// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/analysis/work/ranks/rank_verdict.h"
#include "model/base/answer_fields.h"

#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <vector>

namespace strata::model {

/// What a rank has, with its number.
template <class T> struct OfRank {
    std::int64_t rank = 0;
    T of;
};

/// Several traces as ranks of one run. What they point to outlives it.
struct RanksAnswer {
    explicit RanksAnswer(std::vector<RankTrace> traces);

    std::vector<RankTrace> traces;
    RankWork work;
    RankVerdict verdict;

    [[nodiscard]] std::vector<OfRank<RankStep>> ranksIn(const CommonStep& step) const; ///< that made it
    [[nodiscard]] std::vector<OfRank<RankSums>> sums() const;
    [[nodiscard]] std::vector<OfRank<RankClock>> clocks() const; ///< those that are known
};

template <> struct Fields<RankCause> {
    static constexpr std::tuple all{
        field("cause", Unit::None, "`computation`, `copies`, or a cause of idle time as in `verdict`",
            &RankCause::word),
        field("ns", Unit::Nanoseconds, "how much more time a step", &RankCause::ns),
    };
};

template <> struct Fields<RankVerdict> {
    static constexpr std::tuple all{
        field("balance", Unit::None,
            "`even` (a lead of 2 % or less), `straggler` (one rank is slowest in half of the steps), "
            "`varying`, `few_steps` (even but for few steps), `unrelated`, `none`",
            [](const RankVerdict& verdict) { return rankBalanceWord(verdict.balance); }),
        field("ranks", Unit::Count, "traces that were compared",
            [](const RankVerdict&, const RanksAnswer& in) { return in.work.ranks.size(); }),
        field("world_size", Unit::Count, "ranks of the run; null: a trace has another number, or none",
            [](const RankVerdict&, const RanksAnswer& in) { return in.work.worldSize; }),
        field("steps", Unit::Count, "rows of `rank_steps`",
            [](const RankVerdict&, const RanksAnswer& in) { return in.work.steps.size(); }),
        field("warmups", Unit::Count, "steps that warm up, which were left out",
            [](const RankVerdict&, const RanksAnswer& in) { return in.work.warmups; }),
        field("step_ns", Unit::Nanoseconds, "mean time of a step", &RankVerdict::stepNs),
        field("lead_ns", Unit::Nanoseconds, "mean of `lead_ns` of the steps", &RankVerdict::leadNs),
        field("gain_ns", Unit::Nanoseconds,
            "what a step takes less if `slowest_rank` alone is as fast as the others: the next slowest "
            "bounds "
            "it",
            &RankVerdict::gainNs),
        field("late_ranks", Unit::None, "other ranks that are as late as `slowest_rank`",
            [](const RankVerdict& verdict, const RanksAnswer& in) {
                return verdict.late
                    | std::views::transform([&in](std::size_t rank) { return in.work.ranks[rank]; });
            }),
        field("late_gain_ns", Unit::Nanoseconds,
            "what a step takes less if these ranks and `slowest_rank` are as fast as the others",
            &RankVerdict::lateGainNs),
        field("slowest_rank", Unit::None, "of `straggler` over all steps, else in `worst_step`; null: none",
            [](const RankVerdict& verdict, const RanksAnswer& in) {
                return verdict.slowest ? std::optional(in.work.ranks[*verdict.slowest]) : std::nullopt;
            }),
        field("cause", Unit::None,
            "what the slowest rank spends more time on than the median of the others; null: nothing",
            &RankVerdict::cause),
        field("worst_step", Unit::None,
            "step with the longest lead, as its place in `rank_steps`; null: none", &RankVerdict::worst),
    };
};

template <> struct Fields<OfRank<RankStep>> {
    using Row = OfRank<RankStep>;
    static constexpr std::tuple all{
        field("rank", Unit::None, "number of the rank", &Row::rank),
        field("start_ns", Unit::Nanoseconds, "when the step begins, on the rank's own clock",
            [](const Row& row) { return row.of.time.beginNs; }),
        field("duration_ns", Unit::Nanoseconds, "`own_ns` and `waited_ns`",
            [](const Row& row) { return row.of.time.ns(); }),
        field("own_ns", Unit::Nanoseconds, "the step without waiting for other ranks",
            [](const Row& row) { return row.of.ownNs(); }),
        field("waited_ns", Unit::Nanoseconds,
            "time in collectives while the GPU does nothing else, less the least of any rank in this step",
            within(&Row::of, &RankStep::waitedNs)),
        field("computation_ns", Unit::Nanoseconds, "time in which kernels compute",
            within(&Row::of, &RankStep::computationNs)),
        field("copies_ns", Unit::Nanoseconds, "time in which copies and sets run",
            within(&Row::of, &RankStep::copiesNs)),
    };
};

template <> struct Fields<CommonStep> {
    static constexpr std::tuple all{
        field("name", Unit::None, "name of the step; empty: the traces have no steps", &CommonStep::name),
        field("slowest_rank", Unit::None, "rank whose `own_ns` is longest; null: all are equal",
            [](const CommonStep& step, const RanksAnswer& in) {
                return step.leadNs > 0 ? std::optional(in.work.ranks[step.slowest]) : std::nullopt;
            }),
        field("lead_ns", Unit::Nanoseconds, "by how much that exceeds the median of the others",
            &CommonStep::leadNs),
        field("ranks", Unit::None, "ranks that made the step",
            [](const CommonStep& step, const RanksAnswer& in) { return in.ranksIn(step); }),
    };
};

template <> struct Fields<OfRank<RankSums>> {
    using Row = OfRank<RankSums>;
    static constexpr std::tuple all{
        field("rank", Unit::None, "number of the rank", &Row::rank),
        field("steps", Unit::Count, "steps of `rank_steps` that it made", within(&Row::of, &RankSums::steps)),
        field("slowest_steps", Unit::Count, "steps of these in which it is the slowest",
            within(&Row::of, &RankSums::slowestSteps)),
        field("own_ns", Unit::Nanoseconds, "median over its steps", within(&Row::of, &RankSums::ownNs)),
        field("waited_ns", Unit::Nanoseconds, "median over its steps", within(&Row::of, &RankSums::waitedNs)),
        field("computation_ns", Unit::Nanoseconds, "median over its steps",
            within(&Row::of, &RankSums::computationNs)),
        field("copies_ns", Unit::Nanoseconds, "median over its steps", within(&Row::of, &RankSums::copiesNs)),
    };
};

template <> struct Fields<OfRank<RankClock>> {
    using Row = OfRank<RankClock>;
    static constexpr std::tuple all{
        field("rank", Unit::None, "number of the rank", &Row::rank),
        field("offset_ns", Unit::Nanoseconds,
            "how far its clock is ahead of the first rank's, by the ends of collectives: median over steps",
            within(&Row::of, &RankClock::offsetNs)),
        field("error_ns", Unit::Nanoseconds, "half of the difference of its quartiles",
            within(&Row::of, &RankClock::errorNs)),
        field("steps", Unit::Count, "steps with such collectives", within(&Row::of, &RankClock::steps)),
    };
};

} // namespace strata::model
