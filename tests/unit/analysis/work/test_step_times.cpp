// SPDX-License-Identifier: GPL-3.0-or-later
// Times of steps, and what ranks are compared by.
#include "model/analysis/work/ranks/rank_verdict.h"
#include "model/analysis/work/work_report.h"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace strata::model {

namespace {

std::vector<ProfilerStep> stepsOf(const std::vector<std::int64_t>& ns)
{
    std::vector<ProfilerStep> steps;
    std::int64_t at = 0;
    for (const std::int64_t each : ns) {
        steps.push_back({ "step", std::ssize(steps), { at, at + each }, {} });
        at += each;
    }
    return steps;
}

StepTimes timesOfSteps(const std::vector<std::int64_t>& ns)
{
    std::vector<ProfilerStep> steps = stepsOf(ns);
    describeSteps(steps, {}, {});
    return stepTimesOf(steps).value();
}

/// A trace of one rank: steps, kernels, collectives.
class RankSteps {
public:
    RankSteps(std::int64_t rank, std::int64_t world)
    {
        m_work.rank = rank;
        m_work.ranks = world;
        m_work.lanes.push_back({ .process = 1, .thread = 1 });
        m_work.lanes.push_back({ .device = 0, .stream = 7 });
        m_work.lanes.push_back({ .device = 0, .stream = 20 });
    }
    /// Computes for so long, then copies, then is in a collective up to `end`; times from `begin` on.
    void step(std::int64_t begin, std::int64_t computes, std::int64_t end, std::int64_t copies = 0)
    {
        add(WorkKind::Annotation, "ProfilerStep#" + std::to_string(m_steps++), 0, begin, end);
        add(WorkKind::Kernel, "gemm", 1, begin, begin + computes);
        if (copies > 0)
            add(WorkKind::Copy, "Memcpy HtoD (Pinned -> Device)", 1, begin + computes,
                begin + computes + copies);
        add(WorkKind::Kernel, "ncclKernel_AllReduce", 2, begin + computes + copies, end);
    }
    [[nodiscard]] RankTrace told() const { return { &m_work, &m_strings }; }
    [[nodiscard]] const Work& work() const { return m_work; }
    [[nodiscard]] const StringTable& strings() const { return m_strings; }

    void add(WorkKind kind, const std::string& name, LaneIndex lane, std::int64_t begin, std::int64_t end)
    {
        WorkSpan span;
        span.startNs = begin;
        span.durationNs = end - begin;
        span.name = m_strings.intern(name);
        span.lane = lane;
        span.kind = kind;
        if (kind == WorkKind::Copy) {
            span.detail = static_cast<std::uint32_t>(m_work.copies.size());
            m_work.copies.emplace_back();
        }
        m_work.spans.push_back(span);
    }

    /// What was added last to what is added next, or before it, by the same number.
    void link() { m_work.spans.edit(m_work.spans.size() - 1).correlation = ++m_links / 2 + 1; }

private:
    std::uint32_t m_links = 1;
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
    const auto one = timesOfSteps({ 70 });
    EXPECT_EQ(one.warmups, 1);
    EXPECT_EQ(one.warmupNs, 70);
    EXPECT_EQ(one.steady, 0);
    const auto usual = timesOfSteps({ 11, 10, 12, 10, 30, 10 });
    EXPECT_EQ(usual.warmups, 1) << "a slow one in the middle does not warm up";
    EXPECT_EQ(usual.steadyNs, (Spread{ 10, 10, 10, 12, 30 }));
    const auto slow = timesOfSteps({ 900, 40, 16, 10, 11, 10, 12, 10 });
    EXPECT_EQ(slow.warmups, 3);
    EXPECT_EQ(slow.warmupNs, 956);
    EXPECT_EQ(slow.steady, 5);
}

TEST(StepTimes, OfAScheduleThatBeginsLaterWarmUpOnlyIfTheyAreLong)
{
    const auto warmups = [](std::int64_t firstNumber, std::vector<std::int64_t> lengths) {
        std::vector<ProfilerStep> steps;
        for (const std::int64_t ns : lengths) {
            ProfilerStep& step = steps.emplace_back();
            step.number = firstNumber < 0 ? firstNumber : firstNumber + std::ssize(steps) - 1;
            step.time = { 0, ns };
        }
        return warmupsOf(steps);
    };
    EXPECT_EQ(warmups(0, { 10, 10, 10, 10 }), 1);
    EXPECT_EQ(warmups(1, { 10, 10, 10, 10 }), 1);
    EXPECT_EQ(warmups(-1, { 10, 10, 10, 10 }), 1) << "no number says that it is not the first";
    EXPECT_EQ(warmups(2, { 10, 10, 10, 10 }), 0);
    EXPECT_EQ(warmups(134, { 33 }), 0);
    EXPECT_EQ(warmups(7, { 90, 40, 11, 10, 10, 10 }), 2);
}

TEST(StepTimes, LeaveOutAnEmptyOneAtTheEnd)
{
    RankSteps trace(0, 1);
    for (const std::int64_t begin : { 0, 1000, 2000 })
        trace.step(begin, 400, begin + 1000);
    trace.step(3000, 10, 3020); // the device still works, but nothing is asked for
    trace.add(WorkKind::Operator, "aten::mm", 0, 100, 200);
    EXPECT_TRUE(workReportOf(trace.work(), trace.strings()).steps.back().isEmpty);
    trace.add(WorkKind::Operator, "aten::mm", 0, 2100, 2200);
    const WorkReport report = workReportOf(trace.work(), trace.strings());
    EXPECT_TRUE(report.steps.back().isEmpty);
    EXPECT_FALSE(report.steps[2].isEmpty);
    const auto times = stepTimesOf(report.steps);
    EXPECT_EQ(times->steadyNs, (Spread{ 1000, 1000, 1000, 1000, 1000 }));
    EXPECT_EQ(times->steady, 2);
    EXPECT_FALSE(aboveMedianNs(report.steps.back(), *times));
    trace.add(WorkKind::Operator, "aten::mm", 0, 3010, 3015);
    EXPECT_FALSE(workReportOf(trace.work(), trace.strings()).steps.back().isEmpty);
}

TEST(StepTimes, HaveCompilingAndLoadingApart)
{
    RankSteps trace(0, 1);
    for (const std::int64_t begin : { 0, 1000, 2000, 3000 })
        trace.step(begin, 400, begin + 1000);
    trace.add(WorkKind::Annotation, "_compile.compile_inner (dynamo_timed)", 0, 100, 600);
    trace.add(WorkKind::Operator, "backend_compile (dynamo_timed)", 0, 200, 500); // within that
    trace.add(WorkKind::Operator, "backend_compile (dynamo_timed)", 0, 2900, 3010); // over two steps
    trace.add(WorkKind::Annotation, "Torch-Compiled Region: 0/0", 0, 1000, 1500); // runs what was compiled
    trace.add(
        WorkKind::Annotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 1900, 2050);
    const WorkReport report = workReportOf(trace.work(), trace.strings());
    ASSERT_EQ(report.steps.size(), 4u);
    const std::int64_t compiling[] = { 500, 0, 100, 10 }, loading[] = { 0, 100, 50, 0 };
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(report.steps[i].compileNs, compiling[i]) << i;
        EXPECT_EQ(report.steps[i].loadingNs, loading[i]) << i;
        EXPECT_EQ(report.steps[i].warmsUp, i == 0) << i;
    }
    const auto times = stepTimesOf(report.steps);
    EXPECT_EQ(times->compiling, 3);
    EXPECT_EQ(times->compileNs, 610);
    EXPECT_EQ(sayStepsOf(report).back().text(), "torch.compile takes 610 ns of 3 steps.");
}

TEST(StepTimes, OfARangeTakeWarmupFromTheWholeRun)
{
    RankSteps trace(0, 1);
    for (const std::int64_t begin : { 0, 1000, 2000, 3000 })
        trace.step(begin, 400, begin + (begin == 3000 ? 1200 : 1000));
    const WorkReport report = workReportOf(trace.work(), trace.strings(), TimeSpan{ 1000, 4200 });
    const auto times = stepTimesOf(report.steps);
    EXPECT_EQ(times->warmups, 0) << "the first step of the range is none of the run";
    EXPECT_EQ(times->steady, 3);
    EXPECT_EQ(aboveMedianNs(report.steps[2], *times), 200);
    EXPECT_DOUBLE_EQ(*shareAboveMedian(report.steps[2], *times), 0.2);
    EXPECT_TRUE(sayStepsOf(report).front().text().starts_with("3 steps: median 1"))
        << sayStepsOf(report).front().text();
    const WorkReport one = workReportOf(trace.work(), trace.strings(), TimeSpan{ 3000, 4200 });
    ASSERT_EQ(sayStepsOf(one).size(), 1u);
    EXPECT_TRUE(sayStepsOf(one).front().text().starts_with("ProfilerStep#3: 1"));
}

TEST(BackwardTail, IsWhatCollectivesTakeAloneBehindTheBackward)
{
    // Of each step of 1,000: a kernel of the forward, one of the backward up to 500, collectives from 400 to
    // 550 and 560 to 700, the optimizer's kernel from 680 on; the device lags by 300, beyond the step's end.
    RankSteps trace(0, 2);
    const auto launch
        = [&](std::int64_t at, std::int64_t begin, std::int64_t end, LaneIndex stream, const char* name) {
              trace.add(WorkKind::Runtime, "cudaLaunchKernel", 0, at, at + 2);
              trace.link();
              trace.add(WorkKind::Kernel, name, stream, begin, end);
              trace.link();
          };
    for (std::int64_t begin = 0; begin < 3000; begin += 1000) {
        trace.add(
            WorkKind::Annotation, "ProfilerStep#" + std::to_string(begin / 1000), 0, begin, begin + 1000);
        const std::int64_t device = begin + 300;
        launch(begin + 10, device, device + 200, 1, "gemm");
        trace.add(WorkKind::Operator, "autograd::engine::evaluate_function: MmBackward0", 0, begin + 100,
            begin + 200);
        launch(begin + 150, device + 200, device + 500, 1, "gemm");
        launch(begin + 160, device + 400, device + 550, 2, "ncclDevKernel_AllReduce");
        launch(begin + 210, device + 560, device + 700, 2, "ncclDevKernel_AllReduce");
        launch(begin + 300, device + 680, device + 690, 1, "adam");
    }
    const WorkReport report = workReportOf(trace.work(), trace.strings());
    ASSERT_EQ(report.steps.size(), 3u);
    for (const ProfilerStep& step : report.steps)
        EXPECT_EQ(step.tailNs, 50 + 120 + 10) << step.name;
    const auto times = stepTimesOf(report.steps);
    EXPECT_EQ(times->tailed, 2) << "without the one that warms up";
    EXPECT_EQ(times->tailNs, (Spread{ 180, 180, 180, 180, 180 }));

    RankSteps hidden(0, 1);
    hidden.step(0, 400, 1000);
    EXPECT_FALSE(workReportOf(hidden.work(), hidden.strings()).steps[0].tailNs) << "no backward is known";
}

TEST(RankWork, TakesWaitingFromTheStep)
{
    RankSteps first(0, 4), second(1, 4);
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
    RankSteps first(0, 2), second(1, 2);
    first.step(0, 400, 1000);
    const RankWork ranks = rankWorkOf(std::vector{ first.told(), second.told() });
    EXPECT_TRUE(ranks.steps.empty()) << "a rank without a step";
    EXPECT_EQ(rankVerdictOf(ranks, std::vector{ first.told(), second.told() }).balance, RankBalance::None);
    const RankWork same = rankWorkOf(std::vector{ first.told(), first.told() });
    EXPECT_EQ(same.ranks.size(), 1u) << "the same rank twice";
}

namespace {

/// Five steps after the one that warms up, of 1000 ns; each rank computes as long as it is told. The last one
/// copies, too.
std::vector<std::unique_ptr<RankSteps>> ranksThatCompute(
    const std::vector<std::int64_t>& ns, std::int64_t copies)
{
    std::vector<std::unique_ptr<RankSteps>> ranks;
    for (std::size_t rank = 0; rank < ns.size(); ++rank) {
        ranks.push_back(std::make_unique<RankSteps>(
            static_cast<std::int64_t>(rank), static_cast<std::int64_t>(ns.size())));
        for (std::int64_t begin = 0; begin < 6000; begin += 1000)
            ranks.back()->step(begin, ns[rank], begin + 1000, rank + 1 == ns.size() ? copies : 0);
    }
    return ranks;
}

std::string saidOfRanks(const std::vector<std::int64_t>& ns, RankVerdict& verdict, std::int64_t copies = 0)
{
    const auto ranks = ranksThatCompute(ns, copies);
    std::vector<RankTrace> traces;
    for (const auto& rank : ranks)
        traces.push_back(rank->told());
    const RankWork work = rankWorkOf(traces);
    verdict = rankVerdictOf(work, traces);
    std::string all;
    for (const Sentence& sentence : sayRanks(work, verdict))
        all += sentence.text() + "\n";
    return all;
}

} // namespace

// Rank 1 is late by as much but for 10 ns: a faster rank 3 alone saves these 10 ns.
TEST(RankWork, TheNextSlowestRankBoundsWhatAFasterOneSaves)
{
    RankVerdict verdict;
    const std::string said = saidOfRanks({ 300, 890, 300, 900 }, verdict);
    EXPECT_EQ(verdict.balance, RankBalance::Straggler);
    EXPECT_EQ(verdict.slowest, 3u);
    EXPECT_EQ(verdict.late, std::vector<std::size_t>{ 1 });
    EXPECT_EQ(verdict.leadNs, 600);
    EXPECT_EQ(verdict.gainNs, 10);
    EXPECT_EQ(verdict.lateGainNs, 600);
    EXPECT_EQ(said.find("If it was as fast"), std::string::npos) << said;
    EXPECT_NE(said.find("as late: rank 1."), std::string::npos) << said;
    EXPECT_NE(said.find("If rank 3 alone was as fast as the others, a step would take 10 ns less"),
        std::string::npos)
        << said;
}

TEST(RankWork, OneSlowRankAmongEqualsSavesItsLead)
{
    RankVerdict verdict;
    const std::string said = saidOfRanks({ 300, 300, 300, 900 }, verdict);
    EXPECT_TRUE(verdict.late.empty());
    EXPECT_EQ(verdict.gainNs, 600);
    EXPECT_NE(said.find("If it was as fast as they are, a step would take 600 ns less"), std::string::npos)
        << said;
    // The second slowest lies between: not late, and yet it bounds.
    (void)saidOfRanks({ 300, 500, 300, 900 }, verdict);
    EXPECT_TRUE(verdict.late.empty());
    EXPECT_EQ(verdict.gainNs, 400);
}

TEST(RankWork, AdvisesToLookAtWhatTakesLonger)
{
    const std::string computation = "look at what it is given", copies = "look at what it moves";
    const auto has = [](const std::string& said, const std::string& advice) {
        return said.find(advice) != std::string::npos;
    };
    RankVerdict verdict;
    const std::string computes = saidOfRanks({ 300, 300, 900 }, verdict);
    EXPECT_TRUE(has(computes, computation) && !has(computes, copies)) << computes;
    const std::string moves = saidOfRanks({ 300, 300, 300 }, verdict, 600);
    EXPECT_TRUE(has(moves, copies) && !has(moves, computation)) << moves;
    const std::string even = saidOfRanks({ 300, 300, 300 }, verdict);
    EXPECT_TRUE(!has(even, copies) && !has(even, computation)) << even;
}

} // namespace strata::model
