// SPDX-License-Identifier: GPL-3.0-or-later
// Small trainings of each kind of growth, and random ones with and without leaks.
#include "model/analysis/training/leaks/leaks.h"
#include "tests/unit/analysis/training/step_trace.h"

#include <deque>
#include <functional>
#include <gtest/gtest.h>
#include <random>

namespace strata::model {

namespace {

using test::StepTrace;

const std::string kForward = "forward@model.py:7|step@train.py:20";
const std::string kKeep = "keep@train.py:30|step@train.py:31";
const std::string kOptimizer
    = "_init_group@/usr/lib/python3/site-packages/torch/optim/adamw.py:99|step@train.py:25";

/// 30 steps that allocate some things for a while, and `act` in each.
LeakReport run(const std::function<void(StepTrace&, int)>& act, bool frames = true, int steps = 30,
    const LeakOptions& options = {})
{
    StepTrace trace;
    const std::string forward = frames ? kForward : "";
    (void)trace.alloc(4096, forward); // a parameter
    for (int step = 0; step < steps; ++step) {
        trace.phase(Phase::Forward);
        const auto activation = trace.alloc(3000, forward);
        trace.passing(700, forward);
        trace.phase(Phase::Backward);
        trace.passing(4096);
        trace.free(activation);
        trace.phase(Phase::NoGrad);
        act(trace, step);
        trace.endStep(StepKind::Train, step < 3);
    }
    const auto session = trace.session();
    auto report = findLeaks(session->devices().at(0), trace.steps(), options);
    EXPECT_TRUE(report);
    return std::move(*report);
}

/// A training that keeps what this stack allocates in that phase of each step.
LeakReport leakOfStack(Phase phase, const std::string& stack)
{
    return run([&](StepTrace& trace, int) {
        trace.phase(phase);
        (void)trace.alloc(1024, stack);
    });
}

/// 40 steps of training; after every other one an evaluation keeps what this stack allocates.
LeakReport leakOfEvaluations(const std::string& stack)
{
    StepTrace trace;
    for (int step = 0; step < 40; ++step) {
        trace.passing(3000, kForward);
        trace.endStep(StepKind::Train, step < 3);
        if (step % 2 == 0) {
            trace.phase(Phase::Forward);
            (void)trace.alloc(1024, stack);
            trace.phase(Phase::Unknown);
            trace.endStep(StepKind::Eval);
        }
    }
    const auto session = trace.session();
    return *findLeaks(session->devices().at(0), trace.steps());
}

std::string kinds(const LeakReport& report)
{
    std::string text(leakVerdictWord(report.verdict));
    for (const LeakSite& site : report.sites)
        text += " " + std::string(leakKindWord(site.kind));
    return text;
}

} // namespace

TEST(Leaks, NothingThatStaysIsNoLeak)
{
    const LeakReport report = run([](StepTrace&, int) {});
    EXPECT_EQ(kinds(report), "none");
    EXPECT_EQ(report.why.text(), "nothing grows from step to step throughout the 27 steps after the warm-up");
    EXPECT_EQ(kinds(run([](StepTrace&, int) {}, false)), "none");
}

TEST(Leaks, ASmallBlockAStepIsOne)
{
    for (const bool frames : { true, false }) {
        const LeakReport report
            = run([&](StepTrace& trace, int) { (void)trace.alloc(4, frames ? kKeep : ""); }, frames, 30,
                { .capacityBytes = 1'000'000 });
        ASSERT_EQ(kinds(report), "found leak");
        const LeakSite& site = report.sites[0];
        EXPECT_EQ(site.requestedBytesPerStep, 4);
        EXPECT_EQ(site.allocatedBytesPerStep, 512);
        EXPECT_DOUBLE_EQ(site.blocksPerStep, 1);
        EXPECT_EQ(site.firstStep, 0);
        EXPECT_EQ(site.survivors.size(), 30u);
        EXPECT_EQ(site.growth.size(), 27u);
        EXPECT_EQ(site.growth.back().allocatedBytes, 30 * 512);
        EXPECT_EQ(site.stepsToOom, (1'000'000 - 4096 - 4 * 29 - 3000 - 4096) / 512);
        EXPECT_EQ(report.stepsToOom, site.stepsToOom);
        EXPECT_EQ(report.allocatedBytesPerStep(), 512);
        EXPECT_EQ(site.stack.valid(), frames);
        EXPECT_EQ(site.place.has_value(), !frames);
        if (!frames) {
            EXPECT_EQ(site.place->ordinal, 3);
            EXPECT_EQ(site.place->requestedBytes, 4);
        }
    }
}

TEST(Leaks, StepsThatAreAGuessAreNotCompared)
{
    StepTrace trace;
    for (int step = 0; step < 30; ++step) {
        (void)trace.alloc(4);
        trace.passing(3000);
        trace.endStep();
    }
    const auto session = trace.session();
    TrainingSteps steps = trace.steps();
    steps.endsAreShown = false;
    const LeakReport report = findLeaks(session->devices().at(0), steps).value();
    EXPECT_EQ(kinds(report), "undecided");
    EXPECT_FALSE(report.compared);
    EXPECT_EQ(report.why.text(),
        "the steps are a guess: record with strata record, or name them with record_function(\"step 3\")");
}

/// A server: no step of training, and a list of results in its loop.
TEST(Leaks, RoundsOfALoopAreCompared)
{
    for (const bool leaks : { true, false }) {
        StepTrace trace;
        (void)trace.alloc(4096, "<module>@serve.py:3");
        for (int request = 0; request < 20; ++request) {
            const auto input = trace.alloc(800, "<module>@serve.py:7");
            for (int token = 0; token < 5; ++token) {
                trace.passing(600, "decode@serve.py:20|<module>@serve.py:8");
                trace.passing(700, "decode@serve.py:21|<module>@serve.py:8");
            }
            if (leaks)
                (void)trace.alloc(512, "<module>@serve.py:9");
            trace.free(input);
        }
        const auto session = trace.session();
        const LeakReport report = findLeaks(session->devices().at(0), TrainingSteps{}).value();
        EXPECT_EQ(kinds(report), leaks ? "found leak" : "none");
        ASSERT_TRUE(report.rounds);
        EXPECT_EQ(report.evidence, StepEvidence::Frames);
        EXPECT_EQ(report.steps, 19) << "the last round may not be whole";
    }
}

TEST(Leaks, ABlockThatGrowsIsOne)
{
    for (const bool frames : { true, false }) {
        std::uint64_t last = 0;
        const LeakReport report = run(
            [&](StepTrace& trace, int step) {
                const auto next = trace.alloc(2048 * (step + 1), frames ? kKeep : "");
                if (last != 0)
                    trace.free(last);
                last = next;
            },
            frames);
        ASSERT_EQ(kinds(report), "found leak") << frames;
        EXPECT_EQ(report.sites[0].allocatedBytesPerStep, 2048);
        EXPECT_DOUBLE_EQ(report.sites[0].blocksPerStep, 0);
    }
}

TEST(Leaks, VaryingSizesWithoutStacksAreFoundByTheirPlace)
{
    std::int64_t sum = 0;
    const LeakReport report = run(
        [&](StepTrace& trace, int step) {
            const std::int64_t bytes = 512 * (3 + step * 7 % 31);
            sum += step >= 3 ? bytes : 0;
            (void)trace.alloc(bytes);
        },
        false);
    ASSERT_EQ(kinds(report), "found leak");
    EXPECT_EQ(report.sites[0].requestedBytesPerStep, std::llround(static_cast<double>(sum) / 27));
    EXPECT_EQ(report.sites[0].place->ordinal, 3);
    EXPECT_FALSE(report.sites[0].place->requestedBytes);
}

TEST(Leaks, AHistoryAndACacheSaturate)
{
    std::deque<std::uint64_t> history;
    EXPECT_EQ(kinds(run([&](StepTrace& trace, int) {
        history.push_back(trace.alloc(512, kKeep));
        if (history.size() > 6) {
            trace.free(history.front());
            history.pop_front();
        }
    })),
        "none saturating");
    EXPECT_EQ(kinds(run([](StepTrace& trace, int step) {
        if (step < 15)
            (void)trace.alloc(512, kKeep);
    })),
        "none saturating");
}

TEST(Leaks, CyclesAreFreedLate)
{
    std::vector<std::uint64_t> cycles;
    EXPECT_EQ(kinds(run([&](StepTrace& trace, int step) {
        cycles.push_back(trace.alloc(512, kKeep));
        if (step % 7 == 5) {
            for (const auto block : cycles)
                trace.free(block);
            cycles.clear();
        }
    })),
        "none freed_late");
}

TEST(Leaks, WhatWaitsForAStreamIsPending)
{
    const LeakReport report = run([](StepTrace& trace, int) { trace.requestFree(trace.alloc(2048, kKeep)); });
    ASSERT_EQ(kinds(report), "none pending_stream");
    EXPECT_EQ(report.sites[0].allocatedBytesPerStep, 2048);
    EXPECT_EQ(report.why.text(),
        "what grows from step to step is memory that is freed and waits for another stream");
}

TEST(Leaks, StateOfAnOptimizerIsNone)
{
    EXPECT_EQ(kinds(run([](StepTrace& trace, int step) {
        if (step == 12 || step == 17)
            (void)trace.alloc(4096, kOptimizer);
    })),
        "none optimizer_state");
    EXPECT_EQ(kinds(run([](StepTrace& trace, int) { (void)trace.alloc(4096, kOptimizer); })), "found leak");
}

TEST(Leaks, LongerInputsAreNone)
{
    std::uint64_t last = 0;
    const LeakReport report = run([&](StepTrace& trace, int step) {
        trace.passing(1000 + 100 * step, kForward);
        trace.passing(2000 + 200 * step, kForward);
        const auto next = trace.alloc(4000 + 512 * step, kKeep);
        if (last != 0)
            trace.free(last);
        last = next;
    });
    EXPECT_EQ(kinds(report), "none longer_inputs");
    EXPECT_EQ(
        report.why.text(), "what grows from step to step is memory that grows with what each step works on");
}

// The KV cache of a conversation: prompts have any length, and each answer makes a larger cache.
TEST(Leaks, WhatGrowsByItselfIsOneWhateverTheLengthOfInputs)
{
    std::uint64_t last = 0;
    const LeakReport report = run([&](StepTrace& trace, int step) {
        trace.passing(1000 + 100 * (step * 7 % 11), kForward);
        const auto next = trace.alloc(4000 + 512 * step, kKeep);
        trace.passing(2000 + 200 * step, kForward); // by what is kept
        if (last != 0)
            trace.free(last);
        last = next;
    });
    EXPECT_EQ(kinds(report), "found leak");
}

TEST(Leaks, ReservedAloneIsNone)
{
    const LeakReport report = run([](StepTrace& trace, int) { trace.segment(2 << 20); });
    ASSERT_EQ(kinds(report), "none reserved_only");
    EXPECT_EQ(report.sites[0].reservedBytesPerStep, 2 << 20);
    EXPECT_EQ(report.why.text(), "what grows from step to step is what is reserved, not what is in it");
    const LeakReport both = run([](StepTrace& trace, int) {
        trace.segment(2 << 20);
        trace.requestFree(trace.alloc(2048, kKeep));
    });
    EXPECT_EQ(both.why.text(),
        "what grows from step to step is memory that is freed and waits for another stream; what is "
        "reserved, "
        "not what is in it");
}

TEST(Leaks, TooFewStepsAreUndecided)
{
    const auto leak = [](StepTrace& trace, int) { (void)trace.alloc(512, kKeep); };
    EXPECT_EQ(kinds(run(leak, true, 7)), "undecided");
    EXPECT_EQ(kinds(run(leak, true, 10)), "found leak");
    StepTrace none;
    (void)none.alloc(512);
    const auto session = none.session();
    const auto report = findLeaks(session->devices().at(0), {});
    ASSERT_TRUE(report);
    EXPECT_EQ(kinds(*report), "undecided");
    EXPECT_FALSE(report->why.empty());
    EXPECT_FALSE(report->compared);
    EXPECT_FALSE(run(leak, true, 7).compared);
    EXPECT_TRUE(run(leak, true, 10).compared);
    EXPECT_FALSE(report->noneComplete);
    StepTrace first;
    first.phase(Phase::Forward);
    (void)first.alloc(512);
    first.endStep(StepKind::Incomplete);
    const auto begun = first.session();
    const auto ofBegun = findLeaks(begun->devices().at(0), first.steps());
    ASSERT_TRUE(ofBegun);
    EXPECT_TRUE(ofBegun->noneComplete);
    EXPECT_EQ(ofBegun->why.text(),
        "the recording has no complete step: finding leaks needs 6 steps after the warm-up, 30 steps are better");
    EXPECT_NE(report->why.text().find("record_function"), std::string::npos) << report->why.text();
}

TEST(Leaks, EvaluationsAreTrainingsLeaksByTheStepsBetweenThem)
{
    const LeakReport report = leakOfEvaluations(kForward);
    ASSERT_EQ(kinds(report), "found leak");
    EXPECT_EQ(report.sites[0].allocatedBytesPerStep, 512);
    EXPECT_NE(report.sites[0].pattern.text().find("evaluation"), std::string::npos);
}

/// A deep step has hooks, by which Module calls a forward through other lines.
TEST(Leaks, CountTheBlockOfADeepStepWithTheOthers)
{
    const std::string module = "@/usr/lib/python3/site-packages/torch/nn/modules/module.py:";
    const std::string wrapped = "_wrapped_call_impl" + module + "1787|step@/home/me/train.py:13";
    const auto leakOf = [&](bool deep) {
        return run([&](StepTrace& trace, int step) {
            (void)trace.alloc(1024, "forward@/home/me/model.py:5|"
                    + (deep && step == 20 ? "inner" + module + "1840|_call_impl" + module + "1890|"
                                          : "_call_impl" + module + "1798|")
                    + wrapped);
        });
    };
    const LeakReport plain = leakOf(false), deep = leakOf(true);
    ASSERT_EQ(deep.sites.size(), 1u);
    ASSERT_EQ(deep.sites[0].survivors.size(), plain.sites.at(0).survivors.size());
    for (std::size_t i = 0; i < deep.sites[0].survivors.size(); ++i)
        EXPECT_EQ(deep.sites[0].survivors[i].blocks, plain.sites[0].survivors[i].blocks) << i;
}

TEST(Leaks, NameTheHookOfABackward)
{
    const auto hasHook = [](Phase phase, const std::string& stack) {
        return leakOfStack(phase, stack).sites.at(0).pattern.text().find("hook") != std::string::npos;
    };
    const std::string torch = "@/usr/lib/python3/site-packages/torch/";
    const std::string hook = "<lambda>@/home/me/train.py:12";
    EXPECT_TRUE(hasHook(Phase::Backward, hook));
    EXPECT_TRUE(hasHook(Phase::Backward, hook + "|hook" + torch + "utils/hooks.py:137"));
    EXPECT_FALSE(hasHook(Phase::Forward, hook));
    EXPECT_FALSE(hasHook(Phase::Backward, "step@/home/me/train.py:12|<module>@/home/me/train.py:40"));
    EXPECT_FALSE(
        hasHook(Phase::Backward, "backward@/home/me/scale.py:7|apply" + torch + "autograd/function.py:300"));
}

TEST(Leaks, NameModulesThatStepsMake)
{
    const LeakReport report = leakOfStack(Phase::Unknown,
        "<lambda>@/usr/lib/torch/nn/modules/module.py:1098|_apply@/usr/lib/python3/site-packages/torch/nn/"
        "modules/module.py:966|"
        "main@/home/me/grow.py:5|<module>@/home/me/grow.py:9");
    ASSERT_EQ(kinds(report), "found leak");
    EXPECT_NE(report.sites[0].pattern.text().find("module"), std::string::npos);
}

TEST(Leaks, ExamplesAreOfEarlyStepsToo)
{
    const LeakReport report = leakOfStack(Phase::Forward, kForward);
    const std::vector<BlockId>& examples = report.sites.at(0).examples;
    ASSERT_EQ(examples.size(), 5u);
    EXPECT_LT(examples[1].row(), examples.back().row() / 3);
}

// With the decorator of no_grad() around it, to advise no_grad() would be wrong.
TEST(Leaks, DoNotAdviseNoGradWhereGradientsAreOff)
{
    const auto changeOf
        = [](const std::string& stack) { return leakOfEvaluations(stack).sites.at(0).change.text(); };
    EXPECT_NE(changeOf(kForward).find("no_grad"), std::string::npos);
    const std::string without
        = kForward + "|decorate_context@/usr/lib/python3/site-packages/torch/utils/_contextlib.py:116";
    EXPECT_EQ(changeOf(without).find("no_grad"), std::string::npos);
    EXPECT_NE(changeOf(without).find(".cpu()"), std::string::npos);
}

namespace {

/// A training of random blocks that live for a while, and what seeds of it may have besides.
class RandomTraining {
public:
    explicit RandomTraining(unsigned seed)
        : m_random(seed)
        , m_frames(draw(0, 1) == 1)
        , m_sites(draw(3, 12))
    {
    }

    /// `leak`: bytes that stay of every step. The report of 30 steps.
    LeakReport report(std::int64_t leak)
    {
        StepTrace trace;
        const int window = draw(2, 14), clears = draw(3, 9), full = draw(3, 15), extra = draw(0, 4);
        std::deque<std::uint64_t> history;
        std::vector<std::uint64_t> held, cycles;
        for (int step = 0; step < 30; ++step) {
            for (const auto block : held)
                trace.free(block);
            held.clear();
            std::vector<std::uint64_t> live;
            for (int i = draw(5, 40); i > 0; --i) {
                live.push_back(trace.alloc(draw(1, 4000), stack(draw(0, m_sites))));
                if (draw(0, 1) == 0) {
                    trace.free(live.back());
                    live.pop_back();
                }
            }
            for (const auto block : live)
                (draw(0, 9) == 0 ? held.push_back(block) : trace.free(block)); // to the next step
            if (extra == 1)
                history.push_back(trace.alloc(600, stack(20)));
            if (history.size() > static_cast<std::size_t>(window)) {
                trace.free(history.front());
                history.pop_front();
            }
            if (extra == 2)
                cycles.push_back(trace.alloc(600, stack(21)));
            if (step % clears == 0) {
                for (const auto block : cycles)
                    trace.free(block);
                cycles.clear();
            }
            if (extra == 3 && step < full)
                (void)trace.alloc(600, stack(22));
            if (leak > 0)
                (void)trace.alloc(leak, stack(23));
            trace.endStep(StepKind::Train, step < 3);
        }
        const auto session = trace.session();
        return findLeaks(session->devices().at(0), trace.steps()).value();
    }

    int draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(m_random); }

private:
    [[nodiscard]] std::string stack(int site) const
    {
        return m_frames ? "f@model.py:" + std::to_string(site) + "|main@train.py:1" : "";
    }

    std::mt19937 m_random;
    bool m_frames;
    int m_sites;
};

} // namespace

TEST(LeaksOfRandomTrainings, AreNotToldWhereThereAreNone)
{
    for (unsigned seed = 0; seed < 300; ++seed)
        EXPECT_EQ(RandomTraining(seed).report(0).verdict, LeakReport::Verdict::None) << seed;
}

TEST(LeaksOfRandomTrainings, AreFoundWithTheirRate)
{
    for (unsigned seed = 0; seed < 100; ++seed) {
        RandomTraining training(seed);
        const std::int64_t bytes = std::int64_t{ 4001 } + training.draw(0, 100'000);
        const LeakReport report = training.report(bytes);
        ASSERT_EQ(report.verdict, LeakReport::Verdict::Found) << seed;
        EXPECT_EQ(report.sites[0].requestedBytesPerStep, bytes) << seed;
        EXPECT_EQ(report.allocatedBytesPerStep(), (bytes + 511) / 512 * 512) << seed;
    }
}

} // namespace strata::model
