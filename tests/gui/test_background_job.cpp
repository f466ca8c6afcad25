// SPDX-License-Identifier: GPL-3.0-or-later
// Jobs on the threads of Qt; test_job_queue has what becomes of them.
#include "views/base/background_job.h"

#include "tests/gui/full_pool.h"

#include <QElapsedTimer>
#include <QSignalSpy>
#include <QTest>
#include <QThreadPool>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <semaphore>
#include <thread>

using strata::model::Error;
using strata::test::FullPool;
using strata::views::BackgroundJob;
using strata::views::Earlier;
using strata::views::JobContext;
using testing::ElementsAre;

namespace {

bool ended(const BackgroundJob& job)
{
    return QTest::qWaitFor([&] { return !job.running(); });
}

TEST(BackgroundJob, GivesTheResultOnTheCallersThread)
{
    for (const auto thread :
        { BackgroundJob::Thread::Shared, BackgroundJob::Thread::Beside, BackgroundJob::Thread::Own }) {
        BackgroundJob job(Earlier::Stop, thread);
        int result = 0;
        QThread* worked = nullptr;
        QThread* told = nullptr;
        job.start(
            [&](const JobContext&) {
                worked = QThread::currentThread();
                return 42;
            },
            [&](int value) {
                result = value;
                told = QThread::currentThread();
            });
        EXPECT_TRUE(job.running());
        ASSERT_TRUE(ended(job));
        EXPECT_EQ(result, 42);
        EXPECT_EQ(told, QThread::currentThread());
        EXPECT_NE(worked, QThread::currentThread());
    }
}

TEST(BackgroundJob, OnlyTheNewestCounts)
{
    BackgroundJob job;
    std::vector<int> results;
    for (int i = 0; i < 50; ++i)
        job.start([i](const JobContext&) { return i; }, [&](int value) { results.push_back(value); });
    ASSERT_TRUE(ended(job));
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_THAT(results, ElementsAre(49));
}

TEST(BackgroundJob, CancelTellsTheWorkAndDropsItsResult)
{
    BackgroundJob job;
    std::binary_semaphore begun(0);
    bool finished = false;
    job.start(
        [&](const JobContext& context) {
            begun.release();
            while (!context.cancelled())
                std::this_thread::yield();
            return 1;
        },
        [&](int) { finished = true; });
    begun.acquire();
    const QSignalSpy running(&job, &BackgroundJob::runningChanged);
    job.cancel();
    EXPECT_FALSE(job.running());
    EXPECT_EQ(running.size(), 1);
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_FALSE(finished);
}

TEST(BackgroundJob, InTheSharedPoolMayGoWhileItsWorkStillRuns)
{
    std::binary_semaphore begun(0), mayEnd(0);
    bool finished = false;
    {
        BackgroundJob job;
        job.start(
            [&](const JobContext&) {
                begun.release();
                mayEnd.acquire();
                return 1;
            },
            [&](int) { finished = true; });
        begun.acquire();
    }
    mayEnd.release();
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_FALSE(finished);
}

TEST(BackgroundJob, OnItsOwnThreadTellsTheWorkToStopAndWaitsForIt)
{
    std::binary_semaphore begun(0);
    std::atomic<bool> sawStop = false, dropped = true;
    {
        BackgroundJob job(Earlier::Finish, BackgroundJob::Thread::Own);
        job.start([&](const JobContext& context) {
            begun.release();
            while (!context.cancelled())
                std::this_thread::yield();
            sawStop = true;
        });
        job.start([&](const JobContext&) { dropped = false; });
        begun.acquire();
    }
    EXPECT_TRUE(sawStop);
    EXPECT_TRUE(dropped);
}

TEST(BackgroundJob, OnItsOwnThreadDoesNotWaitForThePool)
{
    const FullPool pool;
    BackgroundJob shared, own(Earlier::Finish, BackgroundJob::Thread::Own);
    std::atomic<bool> begun = false;
    shared.start([&](const JobContext&) { begun = true; });
    bool done = false;
    own.start([](const JobContext&) { return true; }, [&](bool value) { done = value; });
    ASSERT_TRUE(ended(own));
    EXPECT_TRUE(done);
    EXPECT_FALSE(begun);
    shared.cancel();
}

TEST(BackgroundJob, BesideThePoolLetsOthersRunMeanwhile)
{
    const int threads = QThreadPool::globalInstance()->maxThreadCount();
    std::counting_semaphore<> mayEnd(0);
    std::vector<std::unique_ptr<BackgroundJob>> longOnes;
    for (int i = 0; i < threads; ++i) {
        longOnes.push_back(std::make_unique<BackgroundJob>(Earlier::Stop, BackgroundJob::Thread::Beside));
        longOnes.back()->start([&](const JobContext&) { mayEnd.acquire(); });
    }
    BackgroundJob shared;
    shared.start([](const JobContext&) {});
    const bool ran = ended(shared);
    mayEnd.release(threads);
    QThreadPool::globalInstance()->waitForDone();
    EXPECT_TRUE(ran);
    EXPECT_EQ(QThreadPool::globalInstance()->maxThreadCount(), threads);
}

TEST(BackgroundJob, KeepsTheLatestOfThoseThatWaitInTheSharedPoolToo)
{
    BackgroundJob job(Earlier::Finish);
    std::binary_semaphore begun(0), mayEnd(0);
    std::vector<int> results;
    const auto take = [&](int value) { results.push_back(value); };
    job.start(
        [&](const JobContext& context) {
            begun.release();
            mayEnd.acquire();
            return context.cancelled() ? -1 : 0;
        },
        take);
    begun.acquire();
    for (int i = 1; i < 10; ++i)
        job.start([i](const JobContext&) { return i; }, take);
    mayEnd.release();
    ASSERT_TRUE(ended(job));
    EXPECT_THAT(results, ElementsAre(0, 9));
}

TEST(BackgroundJob, WhatIsKeptIsDoneBeforeItGoes)
{
    std::vector<int> done; // the destructor waits: no lock
    {
        BackgroundJob job(Earlier::Keep, BackgroundJob::Thread::Own);
        for (int i = 0; i < 20; ++i)
            job.start([&done, i](const JobContext&) { done.push_back(i); });
    }
    ASSERT_EQ(done.size(), 20U);
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
}

TEST(BackgroundJob, MayDeliverSeveralTimes)
{
    BackgroundJob job;
    std::vector<QString> parts;
    job.start([&](const JobContext& context) {
        for (const char* part : { "outline", "session" })
            context.deliver([&parts, part] { parts.push_back(QString::fromLatin1(part)); });
    });
    ASSERT_TRUE(ended(job));
    EXPECT_THAT(parts, ElementsAre(QStringLiteral("outline"), QStringLiteral("session")));
}

TEST(BackgroundJob, MayGoInsideWhatItDelivers)
{
    auto job = std::make_unique<BackgroundJob>();
    bool more = false;
    job->start([&](const JobContext& context) {
        context.deliver([&job] { job.reset(); });
        context.deliver([&more] { more = true; });
    });
    ASSERT_TRUE(QTest::qWaitFor([&] { return !job; }));
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_FALSE(more);
}

TEST(BackgroundJob, TellsHowFarItIsAtMostTenTimesASecond)
{
    BackgroundJob job;
    std::atomic<bool> mayEnd = false;
    job.start([&](const JobContext& context) {
        context.progress(0.5);
        for (int step = 0; !mayEnd; step = (step + 1) % 1000)
            context.progress(0.5 + step / 2000.0);
    });
    QElapsedTimer clock;
    clock.start();
    const QSignalSpy told(&job, &BackgroundJob::progressChanged);
    ASSERT_TRUE(QTest::qWaitFor([&] { return told.size() >= 5; }));
    EXPECT_GE(clock.elapsed(), 4 * 95) << "Qt's timers may be 5 % early";
    EXPECT_GE(job.fraction(), 0.5);
    const QSignalSpy running(&job, &BackgroundJob::runningChanged);
    mayEnd = true;
    ASSERT_TRUE(ended(job));
    EXPECT_EQ(running.size(), 1);
    EXPECT_EQ(job.fraction(), 0);
}

TEST(BackgroundJob, ANewJobBeginsAtNothing)
{
    BackgroundJob job;
    std::binary_semaphore mayEnd(0);
    job.start([](const JobContext& context) { context.progress(1); });
    ASSERT_TRUE(ended(job));
    job.start([&](const JobContext&) { mayEnd.acquire(); });
    EXPECT_EQ(job.fraction(), 0);
    mayEnd.release();
    ASSERT_TRUE(ended(job));
}

TEST(BackgroundJob, RunningOutOfMemoryIsAnError)
{
    BackgroundJob job;
    bool done = false;
    std::vector<std::string> errors;
    QObject::connect(
        &job, &BackgroundJob::failed, &job, [&](const Error& error) { errors.push_back(error.text()); });
    job.start([](const JobContext&) -> int { throw std::bad_alloc(); }, [&](int) { done = true; });
    ASSERT_TRUE(ended(job));
    EXPECT_FALSE(done);
    EXPECT_THAT(errors,
        ElementsAre("not enough memory: close other programs, or open it on a machine with more memory"));
    job.start([](const JobContext&) { return 1; }, [&](int) { done = true; });
    ASSERT_TRUE(ended(job));
    EXPECT_TRUE(done) << "the next one is not affected";
}

} // namespace
