// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/latest_job.h"

#include <QSignalSpy>
#include <QTest>
#include <QThreadPool>

#include <gtest/gtest.h>

#include <semaphore>

using strata::views::JobContext;
using strata::views::LatestJob;

namespace {

TEST(LatestJob, GivesTheResultOnTheCallersThread)
{
    LatestJob job;
    int result = 0;
    QThread* thread = nullptr;
    job.start([](const JobContext&) { return 42; },
        [&](int value) {
            result = value;
            thread = QThread::currentThread();
        });
    EXPECT_TRUE(job.running());
    ASSERT_TRUE(QTest::qWaitFor([&] { return !job.running(); }));
    EXPECT_EQ(result, 42);
    EXPECT_EQ(thread, QThread::currentThread());
}

TEST(LatestJob, OnlyTheNewestCounts)
{
    LatestJob job;
    std::vector<int> results;
    for (int i = 0; i < 50; ++i)
        job.start([i](const JobContext&) { return i; }, [&](int value) { results.push_back(value); });
    ASSERT_TRUE(QTest::qWaitFor([&] { return !job.running(); }));
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_EQ(results, std::vector<int>{ 49 });
}

TEST(LatestJob, CancelTellsTheWorkAndDropsItsResult)
{
    LatestJob job;
    std::binary_semaphore begun(0), sawStop(0);
    bool finished = false;
    job.start(
        [&](const JobContext& context) {
            begun.release();
            while (!context.cancelled())
                std::this_thread::yield();
            sawStop.release();
            return 1;
        },
        [&](int) { finished = true; });
    begun.acquire();
    job.cancel();
    EXPECT_FALSE(job.running());
    sawStop.acquire();
    QThreadPool::globalInstance()->waitForDone();
    QCoreApplication::processEvents();
    EXPECT_FALSE(finished);
}

TEST(LatestJob, MayGoWhileItsWorkStillRuns)
{
    std::binary_semaphore begun(0), mayEnd(0);
    bool finished = false;
    {
        LatestJob job;
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

TEST(LatestJob, TellsHowFarItIs)
{
    LatestJob job;
    std::binary_semaphore mayEnd(0);
    job.start(
        [&](const JobContext& context) {
            context.progress(0.5);
            mayEnd.acquire();
            return 0;
        },
        [](int) {});
    EXPECT_TRUE(QTest::qWaitFor([&] { return job.progress() == 0.5; }));
    QSignalSpy running(&job, &LatestJob::runningChanged);
    mayEnd.release();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !job.running(); }));
    EXPECT_EQ(running.size(), 1);
}

} // namespace
