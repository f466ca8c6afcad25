// SPDX-License-Identifier: GPL-3.0-or-later
// Times of steps, and what ranks are compared by.
#include "model/analysis/work/rank_verdict.h"

#include <gtest/gtest.h>

namespace strata::model {

namespace {

std::vector<ProfilerStep> stepsOf(const std::vector<std::int64_t>& ns)
{
    std::vector<ProfilerStep> steps;
    std::int64_t at = 0;
    for (const std::int64_t each : ns) {
        steps.push_back({ "step", std::ssize(steps), { at, at + each }, 0 });
        at += each;
    }
    return steps;
}

/// A trace of one rank: steps, kernels, collectives.
class Trace {
public:
    Trace(std::int64_t rank, std::int64_t world)
    {
        m_work.rank = rank;
        m_work.ranks = world;
        m_work.lanes.push_back({ .process = 1, .thread = 1 });
        m_work.lanes.push_back({ .device = 0, .stream = 7 });
        m_work.lanes.push_back({ .device = 0, .stream = 20 });
    }
    /// Computes for so long, then is in a collective up to `end`; times from `begin` on.
    void step(std::int64_t begin, std::int64_t computes, std::int64_t end)
    {
        add(WorkKind::Annotation, "ProfilerStep#" + std::to_string(m_steps++), 0, begin, end);
        add(WorkKind::Kernel, "gemm", 1, begin, begin + computes);
        add(WorkKind::Kernel, "ncclKernel_AllReduce", 2, begin + computes, end);
    }
    [[nodiscard]] RankTrace told() const { return { &m_work, &m_strings }; }

private:
    void add(WorkKind kind, const std::string& name, LaneIndex lane, std::int64_t begin, std::int64_t end)
    {
        WorkSpan span;
        span.startNs = begin;
        span.durationNs = end - begin;
        span.name = m_strings.intern(name);
        span.lane = lane;
        span.kind = kind;
        m_work.spans.push_back(span);
    }

    Work m_work;
    StringTable m_strings;
    int m_steps = 0;
};

} // namespace

TEST(Spread, HasQuartilesThatAreValues)
{
    EXPECT_EQ(spreadOf({}), Spread{});
    EXPECT_EQ(spreadOf({ 5 }), (Spread{ 5, 5, 5, 5, 5 }));
    EXPECT_EQ(spreadOf({ 4, 1, 3, 2 }), (Spread{ 1, 1, 2, 3, 4 }));
    EXPECT_EQ(spreadOf({ 9, 1, 5, 3, 7 }), (Spread{ 1, 3, 5, 7, 9 }));
}

TEST(StepTimes, HaveWarmupApart)
{
    EXPECT_FALSE(stepTimesOf({}));
    const auto one = stepTimesOf(stepsOf({ 70 }));
    EXPECT_EQ(one->warmups, 1);
    EXPECT_EQ(one->warmupNs, 70);
    EXPECT_EQ(one->steady, 0);
    const auto usual = stepTimesOf(stepsOf({ 11, 10, 12, 10, 30, 10 }));
    EXPECT_EQ(usual->warmups, 1) << "a slow one in the middle does not warm up";
    EXPECT_EQ(usual->steadyNs, (Spread{ 10, 10, 10, 12, 30 }));
    const auto slow = stepTimesOf(stepsOf({ 900, 40, 16, 10, 11, 10, 12, 10 }));
    EXPECT_EQ(slow->warmups, 3);
    EXPECT_EQ(slow->warmupNs, 956);
    EXPECT_EQ(slow->steady, 5);
}

TEST(RankWork, TakesWaitingFromTheStep)
{
    Trace first(0, 4), second(1, 4);
    for (const std::int64_t begin : { 0, 1000, 2000, 3000 }) {
        first.step(begin, 400, begin + 1000);
        second.step(5'000'000 + begin, 900, 5'000'000 + begin + 1000);
    }
    const std::vector<RankTrace> traces{ second.told(), first.told() };
    const RankWork ranks = rankWorkOf(traces);
    EXPECT_EQ(ranks.ranks, (std::vector<std::int64_t>{ 0, 1 }));
    EXPECT_EQ(ranks.traces, (std::vector<std::size_t>{ 1, 0 }));
    EXPECT_EQ(ranks.worldSize, 4);
    ASSERT_EQ(ranks.steps.size(), 3u) << "the first one warms up";
    EXPECT_EQ(ranks.steps[0].name, "ProfilerStep#1");
    EXPECT_EQ(ranks.steps[0].ranks[0]->exposedNs, 600);
    EXPECT_EQ(ranks.steps[0].ranks[0]->waitedNs, 500);
    EXPECT_EQ(ranks.steps[0].ranks[1]->waitedNs, 0);
    EXPECT_EQ(ranks.steps[0].slowest, 1u);
    EXPECT_EQ(ranks.steps[0].leadNs, 500);
    EXPECT_EQ(ranks.clocks[1]->offsetNs, 5'000'000);
    EXPECT_EQ(ranks.clocks[1]->errorNs, 0);

    const RankVerdict verdict = rankVerdictOf(ranks, traces);
    EXPECT_EQ(verdict.balance, RankBalance::Straggler);
    EXPECT_EQ(verdict.slowest, 1u);
    EXPECT_EQ(verdict.leadNs, 500);
    EXPECT_EQ(verdict.cause->word(), "computation");
    EXPECT_EQ(verdict.cause->ns, 500);
    EXPECT_EQ(sayRanks(ranks, verdict).back().text(),
        "Of the job's 4 ranks 2 are here: the slowest may be another one.");
}

TEST(RankWork, ComparesWhatIsThere)
{
    Trace first(0, 2), second(1, 2);
    first.step(0, 400, 1000);
    const RankWork ranks = rankWorkOf(std::vector{ first.told(), second.told() });
    EXPECT_TRUE(ranks.steps.empty()) << "a rank without a step";
    EXPECT_EQ(rankVerdictOf(ranks, std::vector{ first.told(), second.told() }).balance, RankBalance::None);
    const RankWork same = rankWorkOf(std::vector{ first.told(), first.told() });
    EXPECT_EQ(same.ranks.size(), 1u) << "the same rank twice";
}

} // namespace strata::model
