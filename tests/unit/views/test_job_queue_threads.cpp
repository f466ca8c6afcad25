// SPDX-License-Identifier: GPL-3.0-or-later
// The same with threads, for the thread sanitizer: random starts, stops, cancels and ends.
#include "views/base/job_queue.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <gtest/gtest.h>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

using strata::views::Earlier;
using strata::views::JobContext;
using strata::views::JobQueue;

namespace {

/// Calls that some threads put in and others take out.
class Calls {
public:
    void add(JobQueue::Call call)
    {
        {
            const std::scoped_lock lock(m_mutex);
            m_calls.push_back(std::move(call));
        }
        m_added.notify_one();
    }
    /// The next one; none once `stop` is asked for and all are done.
    JobQueue::Call next(const std::stop_token& stop)
    {
        std::unique_lock lock(m_mutex);
        m_added.wait(lock, stop, [this] { return !m_calls.empty(); });
        return take();
    }
    JobQueue::Call nextIfAny()
    {
        const std::scoped_lock lock(m_mutex);
        return take();
    }

private:
    JobQueue::Call take()
    {
        if (m_calls.empty())
            return {};
        JobQueue::Call call = std::move(m_calls.front());
        m_calls.pop_front();
        return call;
    }
    std::mutex m_mutex;
    std::condition_variable_any m_added;
    std::deque<JobQueue::Call> m_calls;
};

/// Threads for jobs, and the event loop of this one.
class Machine {
public:
    explicit Machine(int threads)
    {
        for (int i = 0; i < threads; ++i)
            m_threads.emplace_back([this](const std::stop_token& stop) {
                while (const JobQueue::Call call = m_jobs.next(stop))
                    call();
            });
    }
    [[nodiscard]] JobQueue::Ways ways()
    {
        return { [this](JobQueue::Call call) { m_jobs.add(std::move(call)); },
            [this](JobQueue::Call call) { m_events.add(std::move(call)); } };
    }
    void handleEvents()
    {
        while (const JobQueue::Call call = m_events.nextIfAny())
            call();
    }
    template <class Condition> void until(const Condition& condition)
    {
        for (; !condition(); std::this_thread::yield())
            handleEvents();
    }
    void finish() ///< all jobs, and what they said
    {
        m_threads.clear();
        handleEvents();
    }

private:
    Calls m_jobs, m_events;
    std::vector<std::jthread> m_threads;
};

/// What happened, without a lock: the thread sanitizer says so if the queue leaves anything to chance.
struct Told {
    std::vector<int> done; // by jobs that follow each other
    std::vector<int> taken, parts;
    bool idle = true;
};

class JobQueueThreads : public testing::TestWithParam<Earlier> { };

TEST_P(JobQueueThreads, RandomStartsStopsAndEnds)
{
    const Earlier earlier = GetParam();
    for (unsigned seed = 0; seed < 60; ++seed) {
        std::mt19937 random(seed);
        Machine machine(1 + static_cast<int>(seed % 3));
        Told told;
        std::atomic<int> atWork = 0;
        std::optional<JobQueue> queue;
        queue.emplace(earlier, machine.ways(), [&] { told.idle = !queue->running(); });
        int last = -1, interrupted = -1; // the last one started; the last one that may not get to its end
        const auto job = [&told, &atWork, earlier](int number, int steps) {
            return [&told, &atWork, earlier, number, steps, text = std::make_shared<std::array<char, 64>>()](
                       const JobContext& context) {
                text->fill('x');
                if (earlier == Earlier::Keep) { // no other one may be at work
                    EXPECT_EQ(atWork.fetch_add(1, std::memory_order_relaxed), 0);
                    told.done.push_back(number);
                }
                for (int step = 0; step < steps && !context.cancelled(); ++step) {
                    context.progress(static_cast<double>(step) / steps);
                    if (step % 4 == 0)
                        context.deliver([&told, number] { told.parts.push_back(number); });
                    std::this_thread::yield();
                }
                if (earlier == Earlier::Keep)
                    atWork.fetch_sub(1, std::memory_order_relaxed);
                return [&told, number, text] {
                    EXPECT_EQ(text->back(), 'x');
                    told.taken.push_back(number);
                };
            };
        };
        for (int action = 0; action < 60; ++action) {
            switch (random() % 8) {
            case 0:
                queue->cancel();
                interrupted = last;
                EXPECT_FALSE(queue->running());
                break;
            case 1:
                queue->stop();
                interrupted = earlier == Earlier::Keep ? interrupted : last;
                break;
            case 2:
                machine.until([&] { return !queue->running(); });
                break;
            case 3:
                machine.handleEvents();
                (void)queue->progress();
                break;
            default:
                ++last;
                queue->start(job(last, static_cast<int>(random() % 20)), {});
            }
        }
        const bool goes = seed % 2 != 0;
        const std::size_t taken = told.taken.size();
        if (goes)
            queue.reset();
        else
            machine.until([&] { return !queue->running(); });
        machine.finish();

        if (goes) {
            EXPECT_EQ(told.taken.size(), taken) << "nothing is taken once the queue is gone";
        } else {
            EXPECT_TRUE(told.idle);
            if (interrupted < last) {
                ASSERT_FALSE(told.taken.empty());
                EXPECT_EQ(told.taken.back(), last);
            }
        }
        EXPECT_TRUE(std::is_sorted(told.taken.begin(), told.taken.end()));
        EXPECT_TRUE(std::is_sorted(told.parts.begin(), told.parts.end()));
        EXPECT_EQ(std::adjacent_find(told.taken.begin(), told.taken.end()), told.taken.end());
        if (earlier == Earlier::Keep) {
            ASSERT_EQ(told.done.size(), static_cast<std::size_t>(last + 1)) << "every one is done";
            for (int number = 0; number <= last; ++number)
                EXPECT_EQ(told.done[static_cast<std::size_t>(number)], number);
        }
    }
}

std::string nameOf(const testing::TestParamInfo<Earlier>& tested)
{
    constexpr std::array kNames{ "Stop", "Finish", "Keep" };
    return kNames.at(static_cast<std::size_t>(tested.param));
}

INSTANTIATE_TEST_SUITE_P(
    Each, JobQueueThreads, testing::Values(Earlier::Stop, Earlier::Finish, Earlier::Keep), nameOf);

} // namespace
