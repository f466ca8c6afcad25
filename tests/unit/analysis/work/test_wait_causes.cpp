// SPDX-License-Identifier: GPL-3.0-or-later
// Where the idle time of a cause passes, and what is advised.
#include "model/analysis/work/waits/wait_stretches.h"
#include "model/analysis/work/work_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace strata::model {

namespace {

constexpr std::int64_t kUs = 1000;

/// A thread that launches on a stream; times in microseconds.
class Program {
public:
    Program()
    {
        m_work.lanes.push_back({ .process = 1, .thread = 1 });
        m_work.lanes.push_back({ .device = 0, .stream = 7 });
    }
    void add(WorkKind kind, const std::string& name, std::int64_t begin, std::int64_t end,
        std::uint32_t correlation = 0, LaneIndex lane = 0)
    {
        WorkSpan span;
        span.startNs = begin * kUs;
        span.durationNs = (end - begin) * kUs;
        span.name = m_recording.strings.intern(name);
        span.lane = lane;
        span.kind = kind;
        span.correlation = correlation;
        if (kind == WorkKind::Copy) {
            span.detail = static_cast<std::uint32_t>(m_work.copies.size());
            m_work.copies.emplace_back();
        }
        m_work.spans.push_back(span);
    }
    /// What is launched at `at` and runs from 2 us later on.
    void kernel(std::int64_t at, std::int64_t took, const std::string& name = "gemm")
    {
        add(WorkKind::Runtime, "cudaLaunchKernel", at, at + 1, ++m_correlation);
        add(WorkKind::Kernel, name, at + 2, at + 2 + took, m_correlation, 1);
    }
    /// From `from` memory to the device; the call waits until it is done.
    void copy(std::int64_t at, std::int64_t took, const std::string& from)
    {
        add(WorkKind::Runtime, "cudaMemcpyAsync", at, at + took + 4, ++m_correlation);
        add(WorkKind::Copy, "Memcpy HtoD (" + from + " -> Device)", at + 2, at + 2 + took, m_correlation, 1);
    }
    /// A launch of which no work is told.
    void lostLaunch(std::int64_t at)
    {
        add(WorkKind::Runtime, "cudaLaunchKernel", at, at + 1, ++m_correlation);
    }
    void beOwnRecording() { m_work.ownRecording = true; }
    [[nodiscard]] const Work& work() const { return m_work; }
    [[nodiscard]] LaunchCounts launches() const { return launchCountsOf(m_work, strings(), {}); }
    [[nodiscard]] const StringTable& strings() const { return m_recording.strings; }
    [[nodiscard]] WaitTimes waits() const { return waitTimesOf(m_work, strings()); }
    [[nodiscard]] std::string_view text(StringId id) const { return strings()[id]; }
    [[nodiscard]] std::string verdict() const
    {
        std::string all;
        for (const Sentence& each : verdictOf(workReportOf(m_work, strings()), m_recording))
            all += each.text() + " ";
        return all;
    }

private:
    Work m_work;
    Recording m_recording;
    std::uint32_t m_correlation = 0;
};

const WaitTime& of(const WaitTimes& waits, WaitCause cause)
{
    return waits.all[static_cast<std::size_t>(cause)];
}

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(WaitCausesTest, NamesWhatHoldsMostNotTheLongestStretch)
{
    Program program;
    std::int64_t at = 0;
    const auto launch = [&](const std::string& name, std::int64_t took) {
        program.add(WorkKind::Operator, name, at, at + took);
        program.kernel(at + took - 1, 1);
        at += took + 5;
    };
    launch("aten::first", 10);
    launch("aten::long", 90);
    for (int i = 0; i < 41; ++i)
        launch("aten::item_like", 10);
    const WaitTime wait = of(program.waits(), WaitCause::LaunchOverhead);
    EXPECT_EQ(program.text(wait.doing), "aten::long") << "the longest stretch";
    EXPECT_EQ(program.text(wait.most.name), "aten::item_like");
    EXPECT_EQ(wait.most.stretches, 41);
    EXPECT_GT(wait.most.ns, wait.ns / 2);
    EXPECT_EQ(wait.shape(), WaitShape::Short);
    const std::string verdict = program.verdict();
    EXPECT_THAT(verdict, HasSubstr("most of it in aten::item_like ("));
    EXPECT_THAT(verdict, HasSubstr("41 stretches"));
    EXPECT_THAT(verdict, HasSubstr("CUDA graphs"));
}

TEST(WaitCausesTest, OfEqualTimesTheFirstByTheAlphabetIsNamed)
{
    for (const bool isTurned : { false, true }) {
        Program program;
        std::int64_t at = 0;
        for (const char* const name : { isTurned ? "a" : "b", isTurned ? "b" : "a" }) {
            program.kernel(at, 1);
            program.add(WorkKind::Operator, name, at + 3, at + 40);
            at += 40;
        }
        program.kernel(at, 1);
        EXPECT_EQ(program.text(of(program.waits(), WaitCause::LaunchOverhead).most.name), "a");
    }
}

TEST(WaitCausesTest, AWaitIsNamedByTheOperatorThatAsksForIt)
{
    Program program;
    std::int64_t at = 0;
    for (int i = 0; i < 5; ++i) {
        program.kernel(at, 40);
        program.add(WorkKind::Python, "train.py(7): main", at, at + 100);
        program.add(WorkKind::Operator, "aten::item", at + 5, at + 44);
        program.add(WorkKind::Operator, "aten::_local_scalar_dense", at + 6, at + 43);
        program.add(WorkKind::Runtime, "cudaStreamSynchronize", at + 7, at + 43);
        at += 70;
    }
    program.kernel(at, 1);
    const WaitTime wait = of(program.waits(), WaitCause::Synchronisation);
    EXPECT_EQ(program.text(wait.most.name), "aten::item");
    EXPECT_EQ(wait.most.stretches, 5);
    EXPECT_THAT(program.verdict(), HasSubstr("most of it behind aten::item ("));
}

TEST(WaitCausesTest, FewLongStretchesAreNotAdvisedToLaunchLess)
{
    Program program;
    program.add(WorkKind::Annotation, "ProfilerStep#1", 0, 6000);
    program.add(WorkKind::Python, "images.py(1): preprocess", 0, 4000);
    for (std::int64_t at = 4001; at < 5900; at += 10)
        program.kernel(at, 4);
    const std::string verdict = program.verdict();
    EXPECT_THAT(verdict, HasSubstr("in images.py(1): preprocess (66.7 %, 1 stretch)"));
    EXPECT_THAT(verdict, HasSubstr("workers of a DataLoader"));
    EXPECT_THAT(verdict, Not(HasSubstr("CUDA graphs")));
}

TEST(WaitCausesTest, AdviceAboutALoaderNamesItsOptionsAndWhatTheySaveAtMost)
{
    const auto verdict = [](const std::string& loader) {
        Program program;
        program.kernel(0, 10);
        program.add(WorkKind::Annotation, "enumerate(DataLoader)#" + loader + ".__next__", 20, 900);
        program.kernel(902, 10);
        return program.verdict();
    };
    EXPECT_THAT(verdict("_SingleProcessDataLoaderIter"),
        AllOf(HasSubstr("num_workers=4, persistent_workers=True"), HasSubstr("Estimate: saves up to 8")));
    EXPECT_THAT(verdict("_MultiProcessingDataLoaderIter"),
        AllOf(HasSubstr("larger num_workers= or prefetch_factor="), Not(HasSubstr("main process"))));
    EXPECT_THAT(verdict(""), Not(HasSubstr("main process")));
}

TEST(WaitCausesTest, EachAdviceNeedsItsEvidence)
{
    struct Idle {
        const char* advice;
        WorkKind kind;
        const char *evidence, *without; ///< what the program does while the GPU is idle
    };
    const std::initializer_list<Idle> all{
        { "num_workers=", WorkKind::Annotation, "enumerate(DataLoader)#__next__", "enumerate(list)" },
        { "memory snapshot", WorkKind::Runtime, "cudaMalloc", "cudaMallocAsync" },
        { "larger and fewer collectives", WorkKind::Operator, "c10d::allreduce_", "aten::sum" },
        { "CUDA graphs, fused operators", WorkKind::Operator, "aten::add", "" },
    };
    const auto verdict = [](const Idle& idle, const char* name) {
        Program program;
        std::int64_t at = 0;
        for (int i = 0; i < 50; ++i, at += 30) { // short gaps
            program.kernel(at, 2);
            if (*name != '\0')
                program.add(idle.kind, name, at + 5, at + 29);
        }
        program.kernel(at, 2);
        return program.verdict();
    };
    for (const Idle& idle : all) {
        EXPECT_THAT(verdict(idle, idle.evidence), HasSubstr(idle.advice));
        EXPECT_THAT(verdict(idle, idle.without), Not(HasSubstr(idle.advice)));
    }
}

TEST(WaitCausesTest, PinnedMemoryIsAdvisedForPageableCopiesAlone)
{
    const auto verdict = [](const std::string& from) {
        Program program;
        std::int64_t at = 0;
        for (int i = 0; i < 20; ++i, at += 100) {
            program.copy(at, 28, from);
            program.kernel(at + 90, 5);
        }
        return program.verdict();
    };
    EXPECT_THAT(verdict("Pageable"), AllOf(HasSubstr("pin_memory=True"), Not(HasSubstr("fewer .item()"))));
    EXPECT_THAT(verdict("Pinned"), Not(HasSubstr("pin_memory=True")));
}

TEST(WaitCausesTest, AdviceThatOnlyShowsMoreSavesNothing)
{
    Program program;
    program.kernel(0, 10);
    program.kernel(5000, 10);
    EXPECT_THAT(program.verdict(), AllOf(HasSubstr("What would help"), Not(HasSubstr("Estimate: saves"))));
}

TEST(WaitCausesTest, SharesAreOfOneTime)
{
    Program program; // steps of 1 ms, of which the GPU works from 0.3 to 0.9
    program.add(WorkKind::Annotation, "ProfilerStep#1", 0, 1000);
    program.add(WorkKind::Annotation, "enumerate(DataLoader)#__next__", 0, 290);
    program.kernel(298, 100);
    program.add(WorkKind::Annotation, "enumerate(DataLoader)#__next__", 400, 690);
    program.kernel(698, 202);
    const WaitTimes waits = program.waits();
    EXPECT_EQ(waits.of, WaitsOf::Steps);
    const WaitTime& wait = of(waits, WaitCause::DataLoading);
    EXPECT_EQ(wait.ns, 580 * kUs) << "before its first work as between";
    EXPECT_EQ(wait.stretches, 2);
    std::int64_t idle = 0;
    for (const WaitTime& each : waits.all)
        idle += each.ns;
    EXPECT_EQ(idle, (1000 - 302) * kUs);
    const std::string verdict = program.verdict();
    EXPECT_THAT(verdict, HasSubstr("busy for 30.2 % of the steps, which took 1.0 ms"));
    EXPECT_THAT(
        verdict, HasSubstr("(58.0 %), most of it in enumerate(DataLoader)#__next__ (58.0 %, 2 stretches)"));
}

TEST(WaitCausesTest, WorkBehindTheStepsIsSaidToBeThere)
{
    Program program;
    program.add(WorkKind::Annotation, "ProfilerStep#1", 0, 1000);
    program.kernel(298, 802);
    EXPECT_EQ(program.waits().of, WaitsOf::StepsAndWork);
    EXPECT_THAT(program.verdict(), HasSubstr("of the steps and the work around them, which took 1.1 ms"));
}

TEST(WaitCausesTest, ANameIsChargedForItsOwnTimeAlone)
{
    Program program; // idle from 2 to 1002, of which the function has 600
    program.kernel(0, 2);
    program.add(WorkKind::Python, "images.py(1): preprocess", 100, 700);
    program.kernel(1000, 400);
    const WaitTime wait = of(program.waits(), WaitCause::LaunchOverhead);
    EXPECT_EQ(program.text(wait.most.name), "images.py(1): preprocess");
    EXPECT_EQ(wait.most.ns, 600 * kUs);
    EXPECT_GT(wait.ns, 600 * kUs);
}

TEST(WaitCausesTest, CollectivesThatNothingHidesAreTold)
{
    const auto verdict = [](std::int64_t begin, std::int64_t end) {
        Program program; // computes from 2 to 402 and from 602 to 1002
        program.kernel(0, 400);
        program.add(WorkKind::Kernel, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin, end, 0, 1);
        program.kernel(600, 400);
        return program.verdict();
    };
    EXPECT_THAT(verdict(402, 602), HasSubstr("For 200 us (20.0 %) collectives run on it"));
    EXPECT_THAT(verdict(402, 602), HasSubstr("is kept busy")) << "and yet it is told";
    EXPECT_THAT(verdict(302, 502), HasSubstr("For 100 us (10.0 %) collectives")) << "half of it is hidden";
    EXPECT_THAT(verdict(352, 442), Not(HasSubstr("collectives run"))) << "less than a twentieth";
}

TEST(WaitCausesTest, LaunchesThatWereCapturedAreToldApartFromLostOnes)
{
    Program program;
    program.add(WorkKind::Runtime, "cudaStreamBeginCapture", 0, 1);
    for (std::int64_t i = 0; i < 30; ++i)
        program.lostLaunch(2 + 2 * i);
    program.add(WorkKind::Runtime, "cudaStreamEndCapture", 70, 71);
    for (std::int64_t i = 0; i < 60; ++i)
        program.kernel(100 + 10 * i, 8);
    EXPECT_EQ(program.launches().captured, 30);
    EXPECT_EQ(program.launches().lost(), 0);
    EXPECT_THAT(
        program.verdict(), HasSubstr("30 of 90 launches have no work of a GPU here: they were captured"));
    EXPECT_THAT(program.verdict(), Not(HasSubstr("not recorded")));
    for (std::int64_t i = 0; i < 10; ++i)
        program.lostLaunch(800 + 2 * i);
    EXPECT_EQ(program.launches().withoutWork, 40);
    EXPECT_EQ(program.launches().lost(), 10);
    EXPECT_THAT(
        program.verdict(), HasSubstr("30 of 100 launches have no work of a GPU here: they were captured"));
    EXPECT_THAT(program.verdict(),
        HasSubstr("10 of 100 launches have no work of a GPU here: what they launched was "
                  "not recorded"));
}

TEST(WaitCausesTest, FewLostLaunchesAreNotToldBesideManyCapturedOnes)
{
    Program program;
    program.add(WorkKind::Runtime, "cudaStreamBeginCapture", 0, 1);
    for (std::int64_t i = 0; i < 30; ++i)
        program.lostLaunch(2 + 2 * i);
    program.add(WorkKind::Runtime, "cudaStreamEndCapture", 70, 71);
    for (std::int64_t i = 0; i < 69; ++i)
        program.kernel(100 + 10 * i, 8);
    program.lostLaunch(900); // the last one, whose work the trace does not see any more
    EXPECT_EQ(program.launches().lost(), 1);
    EXPECT_THAT(
        program.verdict(), HasSubstr("30 of 100 launches have no work of a GPU here: they were captured"));
    EXPECT_THAT(program.verdict(), Not(HasSubstr("not recorded")));
}

// Another profiler had all of the GPU's records, or CUPTI gave none.
TEST(WaitCausesTest, ARecordingWhoseLaunchesHaveNoWorkSaysSoAndNamesNoCause)
{
    Program program;
    program.beOwnRecording();
    for (std::int64_t step = 0; step < 3; ++step) {
        program.add(
            WorkKind::Annotation, "ProfilerStep#" + std::to_string(step), 100 * step, 100 * step + 90);
        for (std::int64_t i = 0; i < 5; ++i)
            program.lostLaunch(100 * step + 10 * i);
    }
    const WaitTimes waits = program.waits();
    EXPECT_FALSE(waits.device) << "nobody knows whether one was idle";
    for (const WaitTime& wait : waits.all)
        EXPECT_EQ(wait.ns, 0);
    EXPECT_EQ(program.launches().lost(), 15);
    const std::string verdict = program.verdict();
    EXPECT_THAT(verdict, HasSubstr("No work of a GPU is in this trace."));
    EXPECT_THAT(verdict,
        HasSubstr("15 of 15 launches have no work of a GPU here: what they launched was not recorded"));
    EXPECT_THAT(verdict, Not(HasSubstr("idle time passes")));
    // Those of one step have work: the recording is judged by all of its steps.
    for (std::int64_t i = 0; i < 5; ++i)
        program.kernel(302 + 10 * i, 8);
    program.add(WorkKind::Annotation, "ProfilerStep#3", 300, 390);
    EXPECT_EQ(program.waits().of, WaitsOf::Steps);
    EXPECT_THAT(
        program.verdict(), HasSubstr("15 of 20 launches have no work of a GPU here: what they launched"));
}

TEST(WaitCausesTest, MeansAreRounded)
{
    CallSums sums;
    sums.calls = 3;
    const auto mean = [&](std::int64_t totalNs) {
        sums.totalNs = totalNs;
        return sums.meanNs();
    };
    EXPECT_EQ(mean(0), 0);
    EXPECT_EQ(mean(4), 1);
    EXPECT_EQ(mean(5), 2) << "and not cut to 1";
    EXPECT_EQ(mean(INT64_MAX), INT64_MAX / 3);
    sums.calls = 2;
    EXPECT_EQ(mean(5), 3) << "halves upwards";
}

/// Of all pieces of the thread the shortest that fills more than half; of equal ones the last.
Filling slowFill(const Work& work, const TimeSpan& time)
{
    const WorkSpan* best = nullptr;
    std::int64_t ns = 0;
    for (const WorkSpan& span : work.spans) {
        const TimeSpan both{ std::max(span.startNs, time.beginNs), std::min(span.endNs(), time.endNs) };
        if (both.ns() * 2 > time.ns() && (!best || span.durationNs <= best->durationNs)) {
            best = &span;
            ns = both.ns();
        }
    }
    return best ? Filling{ best->name, ns } : Filling();
}

TEST(WaitCausesTest, WhatFillsAStretchIsTheInnermostOfNestedPieces)
{
    std::mt19937 draw(5);
    for (int round = 0; round < 50; ++round) {
        Program program;
        int names = 0;
        const auto nest = [&](auto&& self, std::int64_t begin, std::int64_t end, int depth) -> void {
            program.add(WorkKind::Operator, "op" + std::to_string(names++), begin, end);
            for (std::int64_t at = begin; depth > 0 && at + 4 < end;) {
                const std::int64_t from = at + static_cast<std::int64_t>(draw() % 3),
                                   to
                    = std::min<std::int64_t>(end, from + 2 + static_cast<std::int64_t>(draw() % 30));
                if (from < to && to - from < end - begin)
                    self(self, from, to, depth - 1);
                at = to;
            }
        };
        nest(nest, 0, 300, 4);
        std::vector<WaitStretch> stretches;
        for (std::int64_t at = -5; at < 310;) {
            const auto length = static_cast<std::int64_t>(1 + draw() % 20);
            stretches.push_back({ { at * kUs, (at + length) * kUs }, {}, 0, WaitCause::LaunchOverhead });
            at += length + static_cast<std::int64_t>(draw() % 3);
        }
        const std::vector<Filling> fillings = whatFills(stretches, program.work(), program.strings());
        for (std::size_t i = 0; i < stretches.size(); ++i)
            EXPECT_EQ(fillings[i], slowFill(program.work(), stretches[i].time)) << round << ", stretch " << i;
    }
}

} // namespace

} // namespace strata::model
