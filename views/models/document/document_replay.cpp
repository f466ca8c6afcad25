// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/document_replay.h"

#include "views/models/document/document.h"

#include <utility>

namespace strata::views {

DocumentReplay::DocumentReplay(Document& document, Publish publish)
    : QObject(&document)
    , m_document(document)
    , m_publish(std::move(publish))
{
}

bool DocumentReplay::running() const
{
    const auto shown = m_document.device();
    if (!shown)
        return false;
    const auto job = m_jobs.find(shown->trace->device());
    return job != m_jobs.end() ? job->second->running() : !m_document.isFollowing() && m_document.working();
}

model::ProgressReport DocumentReplay::progress() const
{
    const auto job = m_jobs.find(m_document.viewState().device());
    return job == m_jobs.end() ? model::ProgressReport() : job->second->progress();
}

void DocumentReplay::cancel()
{
    if (const auto job = m_jobs.find(m_document.viewState().device()); job != m_jobs.end())
        job->second->stop();
}

void DocumentReplay::again()
{
    const auto job = m_jobs.find(m_document.viewState().device());
    if (job == m_jobs.end() || job->second->running())
        return;
    m_jobs.erase(job);
    replaySelected();
}

/// A trace that still grows is replayed once it has ended: what a replay tells is of all of it.
void DocumentReplay::replaySelected()
{
    const auto shown = m_document.device();
    if (m_leftOut || m_document.state() != Document::State::Ready || m_document.isFollowing()
        || m_document.isBehind() || !shown || !shown->blocksIndex)
        return;
    auto& job = m_jobs[shown->trace->device()];
    if (job)
        return;
    job = std::make_unique<BackgroundJob>();
    connect(job.get(), &BackgroundJob::runningChanged, &m_document, &Document::progressChanged);
    connect(job.get(), &BackgroundJob::progressChanged, &m_document, &Document::progressChanged);
    connect(job.get(), &BackgroundJob::failed, this, [this, shown](const model::Error& error) {
        auto none = std::make_shared<ReplayData>();
        none->refusal = error;
        none->complete = true;
        m_publish(*shown, none);
    });
    job->start([this, shown](const JobContext& context) {
        replayDevice(*shown, context, [&](std::shared_ptr<const ReplayData> replay) {
            context.deliver([this, shown, replay = std::move(replay)] { m_publish(*shown, replay); });
        });
    });
    Q_EMIT m_document.progressChanged();
}

} // namespace strata::views
