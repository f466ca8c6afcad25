// SPDX-License-Identifier: GPL-3.0-or-later
// What becomes of jobs, step by step: here the "threads" are calls that the test makes when it wants to.
#include "views/base/job_queue.h"

#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <new>
#include <optional>
#include <string>

using strata::model::ProgressReport;
using strata::views::Earlier;
using strata::views::JobContext;
using strata::views::JobQueue;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

class Jobs : public testing::Test {
protected:
    void make(Earlier earlier)
    {
        m_queue.emplace(earlier,
            JobQueue::Ways{ [this](JobQueue::Call call) { m_threads.push_back(std::move(call)); },
                [this](JobQueue::Call call) { m_posted.push_back(std::move(call)); } },
            [this] { m_log.emplace_back(m_queue->running() ? "running" : "idle"); });
    }

    /// A job that writes down when it is done and when its result counts.
    JobQueue::Job named(const std::string& name)
    {
        return [this, name](const JobContext& context) {
            m_log.push_back("do " + name + (context.cancelled() ? " stopped" : ""));
            return [this, name] { m_log.push_back("took " + name); };
        };
    }
    void start(const std::string& name) { m_queue->start(named(name), {}); }

    /// The same, with `meanwhile` on the owner's thread while it runs.
    void start(const std::string& name, const std::function<void()>& meanwhile)
    {
        m_queue->start(
            [meanwhile, rest = named(name)](const JobContext& context) {
                meanwhile();
                return rest(context);
            },
            {});
    }

    void runThread() ///< the first of those that were started and did not run
    {
        ASSERT_FALSE(m_threads.empty());
        const JobQueue::Call call = std::move(m_threads.front());
        m_threads.pop_front();
        call();
    }
    void handleEvents()
    {
        for (; !m_posted.empty(); m_posted.pop_front()) {
            const JobQueue::Call call = std::move(m_posted.front());
            call();
        }
    }

    std::optional<JobQueue> m_queue;
    std::deque<JobQueue::Call> m_threads, m_posted;
    std::vector<std::string> m_log;
};

TEST_F(Jobs, AResultCountsOnTheOwnersThreadAndThenTheQueueIsIdle)
{
    make(Earlier::Stop);
    EXPECT_FALSE(m_queue->running());
    start("a");
    EXPECT_TRUE(m_queue->running());
    runThread();
    EXPECT_THAT(m_log, ElementsAre("running", "do a")) << "nothing is delivered on the thread of the job";
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do a", "took a", "idle"));
    EXPECT_FALSE(m_queue->running());
}

TEST_F(Jobs, IsNotRunningAnyMoreWhenItsResultIsTaken)
{
    make(Earlier::Stop);
    bool running = true;
    m_queue->start([&](const JobContext&) { return [&] { running = m_queue->running(); }; }, {});
    runThread();
    handleEvents();
    EXPECT_FALSE(running);
}

TEST_F(Jobs, StartingTheNextFromAResultSaysNothingInBetween)
{
    make(Earlier::Finish);
    m_queue->start([&](const JobContext&) { return [&] { start("b"); }; }, {});
    runThread();
    handleEvents();
    EXPECT_TRUE(m_queue->running());
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do b", "took b", "idle"));
}

TEST_F(Jobs, StopDropsTheRunningOneAndDoesNotWaitForIt)
{
    make(Earlier::Stop);
    start("a", [&] {
        start("b");
        ASSERT_EQ(m_threads.size(), 1U) << "b is on its way to a thread while a runs";
        runThread();
        handleEvents();
    });
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do b", "took b", "idle", "do a stopped"));
}

TEST_F(Jobs, StopDropsWhatWasDoneAndNotYetTaken)
{
    make(Earlier::Stop);
    start("a");
    runThread();
    start("b");
    handleEvents();
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do a", "do b", "took b", "idle"));
}

TEST_F(Jobs, StopNeverBeginsWhatWasDroppedBefore)
{
    make(Earlier::Stop);
    for (const char* name : { "a", "b", "c" })
        start(name);
    while (!m_threads.empty())
        runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do c", "took c", "idle"));
}

TEST_F(Jobs, FinishLetsTheRunningOneCountAndOnlyTheLatestOfThoseThatWait)
{
    make(Earlier::Finish);
    start("a", [&] {
        for (const char* name : { "b", "c", "d" })
            start(name);
        EXPECT_THAT(m_threads, IsEmpty()) << "they wait for a";
    });
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do a", "do d", "took a", "took d", "idle"));
}

TEST_F(Jobs, FinishStaysBusyUntilTheLastOneIsTaken)
{
    make(Earlier::Finish);
    start("a", [&] { start("b"); });
    runThread();
    ASSERT_EQ(m_posted.size(), 2U);
    m_posted.front()();
    m_posted.pop_front();
    EXPECT_TRUE(m_queue->running());
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do a", "do b", "took a", "took b", "idle"));
}

TEST_F(Jobs, FinishAfterACancelDoesNotWaitForTheDroppedOne)
{
    make(Earlier::Finish);
    start("a", [&] {
        m_queue->cancel();
        start("b");
        runThread();
    });
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "idle", "running", "do b", "do a stopped", "took b", "idle"));
}

TEST_F(Jobs, KeepDoesAllInTheirOrder)
{
    make(Earlier::Keep);
    start("a", [&] {
        for (const char* name : { "b", "c", "d" })
            start(name);
        EXPECT_THAT(m_threads, IsEmpty()) << "never two at once";
    });
    runThread();
    handleEvents();
    EXPECT_THAT(m_log,
        ElementsAre(
            "running", "do a", "do b", "do c", "do d", "took a", "took b", "took c", "took d", "idle"));
}

TEST_F(Jobs, KeepDoesWhatWasCancelledButDeliversNothingOfIt)
{
    make(Earlier::Keep);
    start("a", [&] {
        start("b");
        m_queue->stop();
        m_queue->cancel();
        EXPECT_FALSE(m_queue->running());
        start("c");
    });
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "idle", "running", "do a", "do b", "do c", "took c", "idle"));
}

TEST_F(Jobs, KeepDoesWhatIsLeftWhenTheQueueIsGone)
{
    make(Earlier::Keep);
    start("a", [&] {
        start("b");
        m_queue.reset();
    });
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do a", "do b"));
}

TEST_F(Jobs, CancelDropsWhatRunsAndWhatWaits)
{
    for (const Earlier earlier : { Earlier::Stop, Earlier::Finish }) {
        make(earlier);
        m_log.clear();
        start("a", [&] {
            start("b");
            m_queue->cancel();
            EXPECT_FALSE(m_queue->running());
        });
        while (!m_threads.empty())
            runThread();
        handleEvents();
        EXPECT_THAT(m_log, ElementsAre("running", "idle", "do a stopped"));
    }
}

TEST_F(Jobs, ACancelledJobThatNeverBeganIsNotBegun)
{
    make(Earlier::Finish);
    start("a");
    m_queue->cancel();
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "idle"));
}

TEST_F(Jobs, StoppingKeepsWhatTheJobStillDelivers)
{
    make(Earlier::Stop);
    start("a", [&] { m_queue->stop(); });
    EXPECT_TRUE(m_queue->running());
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do a stopped", "took a", "idle"));
    start("b");
    runThread();
    handleEvents();
    EXPECT_EQ(m_log.back(), "idle") << "the next one is not stopped";
    EXPECT_THAT(m_log, testing::Contains("took b"));
}

TEST_F(Jobs, DeliversPartsInOrderBeforeTheEnd)
{
    make(Earlier::Stop);
    m_queue->start(
        [this](const JobContext& context) {
            for (const char* part : { "outline", "session" })
                context.deliver([this, part] {
                    m_log.emplace_back(part);
                    EXPECT_TRUE(m_queue->running());
                });
            return [this] { m_log.emplace_back("end"); };
        },
        {});
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "outline", "session", "end", "idle"));
}

TEST_F(Jobs, DropsThePartsThatWereNotTaken)
{
    make(Earlier::Stop);
    m_queue->start(
        [this](const JobContext& context) {
            context.deliver([this] {
                m_log.emplace_back("first");
                m_queue->cancel();
            });
            context.deliver([this] { m_log.emplace_back("second"); });
            return [this] { m_log.emplace_back("end"); };
        },
        {});
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "first", "idle"));
}

TEST_F(Jobs, TheQueueMayGoWhileAJobRunsAndInsideADelivery)
{
    for (const Earlier earlier : { Earlier::Stop, Earlier::Finish, Earlier::Keep }) {
        make(earlier);
        m_log.clear();
        start("a", [&] { m_queue.reset(); });
        runThread();
        handleEvents();
        EXPECT_THAT(m_log, ElementsAre("running", earlier == Earlier::Keep ? "do a" : "do a stopped"));

        make(earlier);
        m_log.clear();
        m_queue->start(
            [this](const JobContext& context) {
                context.deliver([this] { m_log.emplace_back("part"); });
                return [this] { m_queue.reset(); };
            },
            {});
        runThread();
        handleEvents();
        EXPECT_THAT(m_log, ElementsAre("running", "part")) << "nobody is left to be told";
    }
}

TEST_F(Jobs, WhatAJobHoldsGoesBeforeItsResultIsTaken)
{
    make(Earlier::Finish);
    const auto held = std::make_shared<int>(1);
    long users = 0;
    m_queue->start(
        [held, &users](
            const JobContext&) { return [&users, weak = std::weak_ptr(held)] { users = weak.use_count(); }; },
        {});
    EXPECT_EQ(held.use_count(), 2);
    runThread();
    handleEvents();
    EXPECT_EQ(users, 1) << "only that of the test";
}

TEST_F(Jobs, WhatASupersededJobHoldsGoesAtOnce)
{
    make(Earlier::Finish);
    const auto held = std::make_shared<int>(1);
    start("a", [&] {
        m_queue->start([held](const JobContext&) { return JobQueue::Call(); }, {});
        EXPECT_EQ(held.use_count(), 2);
        start("c");
        EXPECT_EQ(held.use_count(), 1);
    });
    runThread();
}

TEST_F(Jobs, RunningOutOfMemoryIsToldInsteadOfTheResult)
{
    make(Earlier::Finish);
    const auto fails = [this](const JobContext& context) -> JobQueue::Call {
        context.deliver([this] { m_log.emplace_back("part"); });
        throw std::bad_alloc();
    };
    m_queue->start(fails, [this] { m_log.emplace_back("ran out"); });
    start("b");
    runThread();
    handleEvents();
    EXPECT_THAT(m_log, ElementsAre("running", "do b", "part", "ran out", "took b", "idle"));

    m_queue->start(fails, [this] { m_log.emplace_back("ran out of what nobody wants"); });
    m_queue->cancel();
    runThread();
    handleEvents();
    EXPECT_EQ(m_log.back(), "idle");
}

TEST_F(Jobs, TellsHowFarTheOldestIs)
{
    make(Earlier::Finish);
    EXPECT_EQ(m_queue->progress(), ProgressReport());
    m_queue->start(
        [this](const JobContext& context) {
            EXPECT_EQ(m_queue->progress(), ProgressReport());
            context.progress(0.25);
            EXPECT_EQ(m_queue->progress().done * 4, m_queue->progress().total);
            context.forModel()({ strata::model::Stage::Checking, 3, 7, 5 });
            start("waiting");
            EXPECT_EQ(m_queue->progress(), (ProgressReport{ strata::model::Stage::Checking, 3, 7, 5 }));
            return JobQueue::Call();
        },
        {});
    runThread();
    handleEvents();
    EXPECT_EQ(m_queue->progress(), ProgressReport());
}

TEST(JobContext, OfNobodyDoesNothing)
{
    const JobContext context;
    EXPECT_FALSE(context.cancelled());
    context.progress(0.5);
    context.deliver([] { FAIL(); });
    EXPECT_FALSE(context.forModel().cancelled());
    std::stop_source stop;
    stop.request_stop();
    EXPECT_TRUE(JobContext(stop.get_token()).cancelled());
}

} // namespace
