// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/job_queue.h"

#include "views/base/job_count.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <new>
#include <utility>

namespace strata::views {

namespace {

std::atomic<int> g_jobs = 0;

/// Counts as a job for as long as it is held.
std::shared_ptr<void> countedJob()
{
    ++g_jobs;
    return { nullptr, [](void*) { --g_jobs; } };
}

} // namespace

int jobsUnderWay()
{
    return g_jobs;
}

/// What a queue shares with the threads that work for it. Outlives the queue for as long as a job of it runs.
struct JobLine {
    JobQueue::Ways ways;
    JobQueue* queue = nullptr; // for the owner's thread alone; nullptr once it is gone
    std::mutex mutex;
    std::shared_ptr<JobTask> active; // guarded; the one that those who wait wait for
    std::deque<std::shared_ptr<JobTask>> waiting; // guarded
};

/// A job from its start to its end.
struct JobTask {
    std::shared_ptr<JobLine> line;
    JobQueue::Job job; // belongs to the thread that runs it, once one does
    JobQueue::Call ranOut;
    std::stop_source stop;
    model::ProgressReport report; // guarded by line->mutex
    bool dropped
        = false; // written on the owner's thread alone, and guarded: elsewhere it is read under the mutex
};

JobContext::JobContext(std::shared_ptr<JobTask> task)
    : m_stop(task->stop.get_token())
    , m_task(std::move(task))
{
}

void JobContext::progress(double fraction) const
{
    constexpr std::int64_t kSteps = 1000;
    progress({ .done = static_cast<std::int64_t>(fraction * kSteps), .total = kSteps });
}

void JobContext::progress(const model::ProgressReport& report) const
{
    if (!m_task)
        return;
    const std::scoped_lock lock(m_task->line->mutex);
    m_task->report = report;
}

model::Progress JobContext::forModel() const
{
    return { [context = *this](const model::ProgressReport& report) { context.progress(report); }, m_stop };
}

void JobContext::deliver(std::function<void()> call) const
{
    if (m_task)
        JobQueue::post(m_task, std::move(call), false);
}

JobQueue::JobQueue(Earlier earlier, Ways ways, Call changed)
    : m_earlier(earlier)
    , m_changed(std::move(changed))
    , m_line(std::make_shared<JobLine>())
{
    m_line->ways = std::move(ways);
    m_line->queue = this;
}

JobQueue::~JobQueue()
{
    drop();
    m_line->queue = nullptr;
}

void JobQueue::start(Job job, Call ranOut)
{
    if (m_earlier == Earlier::Stop)
        drop();
    auto task = std::make_shared<JobTask>();
    task->line = m_line;
    task->job = std::move(job);
    task->ranOut = std::move(ranOut);

    std::deque<std::shared_ptr<JobTask>> superseded;
    bool first = false;
    {
        const std::scoped_lock lock(m_line->mutex);
        if (m_earlier == Earlier::Finish)
            superseded.swap(m_line->waiting);
        first = !m_line->active;
        if (first)
            m_line->active = task;
        else
            m_line->waiting.push_back(task);
    }
    for (const std::shared_ptr<JobTask>& late : superseded)
        std::erase(m_wanted, late);
    m_wanted.push_back(task);
    if (first)
        m_line->ways.run(
            [task = std::move(task), counted = countedJob()]() mutable { work(std::move(task)); });
    announce();
}

void JobQueue::stop()
{
    if (m_earlier == Earlier::Keep)
        return;
    for (const std::shared_ptr<JobTask>& task : m_wanted)
        task->stop.request_stop();
}

void JobQueue::cancel()
{
    drop();
    announce();
}

void JobQueue::drop()
{
    stop();
    std::deque<std::shared_ptr<JobTask>> dropped;
    {
        const std::scoped_lock lock(m_line->mutex);
        for (const std::shared_ptr<JobTask>& task : m_wanted)
            task->dropped = true;
        if (m_earlier != Earlier::Keep) { // whoever runs is on its way out, and nobody waits for it
            m_line->active.reset();
            dropped.swap(m_line->waiting);
        }
    }
    m_wanted.clear();
}

model::ProgressReport JobQueue::progress() const
{
    if (m_wanted.empty())
        return {};
    const std::scoped_lock lock(m_line->mutex);
    return m_wanted.front()->report;
}

/// On a thread of the way `run`: the task, and those that came to wait for it meanwhile.
void JobQueue::work(std::shared_ptr<JobTask> task)
{
    for (; task; task = next(task)) {
        Call call;
        if (!task->stop.stop_requested()) {
            try {
                call = task->job(JobContext(task));
            } catch (const std::bad_alloc&) {
                call = task->ranOut;
            }
        }
        task->job = nullptr; // what it holds goes here, before the result is announced
        post(task, std::move(call), true);
    }
}

std::shared_ptr<JobTask> JobQueue::next(const std::shared_ptr<JobTask>& ended)
{
    JobLine& line = *ended->line;
    const std::scoped_lock lock(line.mutex);
    if (line.active != ended) // it was dropped, and another may have begun
        return nullptr;
    line.active.reset();
    if (!line.waiting.empty()) {
        line.active = std::move(line.waiting.front());
        line.waiting.pop_front();
    }
    return line.active;
}

void JobQueue::post(const std::shared_ptr<JobTask>& task, Call call, bool last)
{
    {
        const std::scoped_lock lock(task->line->mutex);
        if (task->dropped)
            return;
    }
    task->line->ways.post([task, call = std::move(call), last] { took(task, call, last); });
}

/// On the owner's thread.
void JobQueue::took(const std::shared_ptr<JobTask>& task, const Call& call, bool last)
{
    if (task->dropped)
        return; // by then the queue itself may be gone
    if (last)
        std::erase(task->line->queue->m_wanted, task);
    if (call)
        call();
    if (JobQueue* queue = task->line->queue; queue && last) // the call may have been its end
        queue->announce();
}

void JobQueue::announce()
{
    if (running() == m_announced)
        return;
    m_announced = running();
    if (m_changed)
        m_changed();
}

} // namespace strata::views
