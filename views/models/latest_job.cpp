// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/latest_job.h"

#include <QThreadPool>

#include <mutex>

namespace strata::views {

// Outlives the LatestJob as long as a worker still runs; `owner` is only touched under the lock.
struct LatestJob::Link {
    std::mutex mutex;
    LatestJob* owner = nullptr;
};

LatestJob::LatestJob(QObject* parent)
    : QObject(parent)
    , m_link(std::make_shared<Link>())
{
    m_link->owner = this;
    m_ticker.setInterval(100);
    connect(&m_ticker, &QTimer::timeout, this, &LatestJob::progressChanged);
}

LatestJob::~LatestJob()
{
    m_stop.request_stop();
    const std::lock_guard lock(m_link->mutex);
    m_link->owner = nullptr;
}

void LatestJob::run(std::function<std::function<void()>(const JobContext&)> work)
{
    m_stop.request_stop();
    m_stop = std::stop_source();
    m_permille = std::make_shared<std::atomic<int>>(0);
    const quint64 generation = ++m_generation;
    const JobContext context(m_stop.get_token(), m_permille);

    QThreadPool::globalInstance()->start([work = std::move(work), context, generation, link = m_link]() {
        if (context.cancelled())
            return;
        std::function<void()> done = work(context);
        const std::lock_guard lock(link->mutex);
        if (link->owner == nullptr || context.cancelled())
            return;
        LatestJob* owner = link->owner;
        QMetaObject::invokeMethod(
            owner,
            [owner, generation, done = std::move(done)] {
                if (owner->m_generation != generation || !owner->m_running)
                    return;
                owner->setRunning(false);
                done();
            },
            Qt::QueuedConnection);
    });
    setRunning(true);
}

void LatestJob::cancel()
{
    m_stop.request_stop();
    ++m_generation;
    setRunning(false);
}

double LatestJob::progress() const
{
    return m_permille ? m_permille->load(std::memory_order_relaxed) / 1000.0 : 0.0;
}

void LatestJob::setRunning(bool running)
{
    if (running)
        m_ticker.start();
    else
        m_ticker.stop();
    if (m_running == running)
        return;
    m_running = running;
    Q_EMIT runningChanged();
}

} // namespace strata::views
