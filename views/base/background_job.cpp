// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/background_job.h"

#include <QCoreApplication>

namespace strata::views {

namespace {

constexpr int kProgressMs = 100;

/// The application receives the calls: unlike the job it is there for as long as threads of pools are.
void postToGui(JobQueue::Call call)
{
    QMetaObject::invokeMethod(QCoreApplication::instance(), std::move(call), Qt::QueuedConnection);
}

} // namespace

BackgroundJob::BackgroundJob(Earlier earlier, Thread thread, QObject* parent)
    : QObject(parent)
    , m_queue(earlier,
          { [pool = thread == Thread::Own ? &m_own : QThreadPool::globalInstance()](
                JobQueue::Call call) { pool->start(std::move(call)); },
              postToGui },
          [this] { changed(); })
{
    m_own.setMaxThreadCount(1);
    m_ticker.setInterval(kProgressMs);
    connect(&m_ticker, &QTimer::timeout, this, [this] {
        if (const model::ProgressReport now = progress(); now != m_told) {
            m_told = now;
            Q_EMIT progressChanged();
        }
    });
}

BackgroundJob::~BackgroundJob() = default;

void BackgroundJob::begin(JobQueue::Job job)
{
    m_told = {};
    m_queue.start(std::move(job), [this] {
        Q_EMIT failed({ model::Error::Kind::Refused, model::say("not enough memory"),
            model::say("close other programs, or open it on a machine with more memory"), {} });
    });
}

void BackgroundJob::changed()
{
    if (running())
        m_ticker.start();
    else
        m_ticker.stop();
    Q_EMIT runningChanged();
}

double BackgroundJob::fraction() const
{
    const model::ProgressReport report = progress();
    return report.total > 0 ? static_cast<double>(report.done) / static_cast<double>(report.total) : 0;
}

} // namespace strata::views
