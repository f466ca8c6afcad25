// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/widgets/memory/picture_job.h"

namespace strata::views {

PictureJob::PictureJob(QObject* parent)
    : QObject(parent)
{
}

PictureJob::~PictureJob()
{
    {
        const std::lock_guard lock(m_mutex);
        m_waiting.reset();
        m_runningStop.request_stop();
    }
    m_thread.request_stop();
    if (m_thread.joinable())
        m_thread.join();
}

void PictureJob::start(Job job, Running running)
{
    ++m_generation;
    if (running == Running::Stop)
        m_oldestWanted = m_generation;
    {
        const std::lock_guard lock(m_mutex);
        if (!m_waiting)
            ++m_unfinished;
        m_waiting = Waiting{ std::move(job), m_generation };
        if (running == Running::Stop)
            m_runningStop.request_stop();
    }
    if (!m_thread.joinable())
        m_thread = std::jthread([this](const std::stop_token& stop) { loop(stop); });
    m_wake.notify_one();
}

void PictureJob::cancel()
{
    m_oldestWanted = ++m_generation;
    const std::lock_guard lock(m_mutex);
    if (m_waiting)
        --m_unfinished;
    m_waiting.reset();
    m_runningStop.request_stop();
}

void PictureJob::loop(const std::stop_token& stop)
{
    while (true) {
        std::optional<Waiting> next;
        std::stop_token jobStop;
        {
            std::unique_lock lock(m_mutex);
            if (!m_wake.wait(lock, stop, [this] { return m_waiting.has_value(); }))
                return;
            next.swap(m_waiting);
            m_runningStop = std::stop_source();
            jobStop = m_runningStop.get_token();
        }
        Deliver deliver = next->job(jobStop);
        const std::uint64_t generation = next->generation;
        next.reset(); // what the job holds goes before the result is announced
        if (stop.stop_requested())
            return;
        QMetaObject::invokeMethod(
            this, [this, deliver = std::move(deliver), generation] { finished(deliver, generation); },
            Qt::QueuedConnection);
    }
}

void PictureJob::finished(const Deliver& deliver, std::uint64_t generation)
{
    --m_unfinished;
    if (generation >= m_oldestWanted && deliver)
        deliver();
    if (m_unfinished == 0 && idle)
        idle();
}

} // namespace strata::views
