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

std::function<void(JobQueue::Call)> wayTo(BackgroundJob::Thread thread, QThreadPool& own)
{
    QThreadPool* const shared = QThreadPool::globalInstance();
    switch (thread) {
    case BackgroundJob::Thread::Beside:
        return [shared](const JobQueue::Call& call) {
            shared->start([shared, call] {
                shared->releaseThread(); // another takes its place meanwhile
                call();
                shared->reserveThread();
            });
        };
    case BackgroundJob::Thread::Own:
        return [&own](JobQueue::Call call) { own.start(std::move(call)); };
    case BackgroundJob::Thread::Shared:
        break;
    }
    return [shared](JobQueue::Call call) { shared->start(std::move(call)); };
}

} // namespace

BackgroundJob::BackgroundJob(Earlier earlier, Thread thread, QObject* parent)
    : QObject(parent)
    , m_queue(earlier, { wayTo(thread, m_own), postToGui }, [this] { changed(); })
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
