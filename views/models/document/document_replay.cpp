// SPDX-License-Identifier: GPL-3.0-or-later
// The part of a document that replays allocators, once all of a device is known.
#include "views/models/document/document.h"

namespace strata::views {

bool Document::replaying() const
{
    const auto shown = device();
    if (!shown)
        return false;
    const auto job = m_replays.find(shown->trace->device());
    return job != m_replays.end() ? job->second->running() : !m_following && working();
}

model::ProgressReport Document::replayProgress() const
{
    const auto job = m_replays.find(m_viewState->device());
    return job == m_replays.end() ? model::ProgressReport() : job->second->progress();
}

void Document::cancelReplay()
{
    if (const auto job = m_replays.find(m_viewState->device()); job != m_replays.end())
        job->second->stop();
}

void Document::replayAgain()
{
    const auto job = m_replays.find(m_viewState->device());
    if (job == m_replays.end() || job->second->running())
        return;
    m_replays.erase(job);
    replaySelected();
}

/// A trace that still grows is replayed once it has ended: what a replay tells is of all of it.
void Document::replaySelected()
{
    const auto shown = device();
    if (m_replaysLeftOut || m_state != State::Ready || m_following || isBehind() || !shown
        || !shown->blocksIndex)
        return;
    auto& job = m_replays[shown->trace->device()];
    if (job)
        return;
    job = std::make_unique<BackgroundJob>();
    connect(job.get(), &BackgroundJob::runningChanged, this, &Document::progressChanged);
    connect(job.get(), &BackgroundJob::progressChanged, this, &Document::progressChanged);
    connect(job.get(), &BackgroundJob::failed, this, [this, shown](const model::Error& error) {
        auto none = std::make_shared<ReplayData>();
        none->refusal = error;
        none->complete = true;
        publishReplay(*shown, none);
    });
    job->start([this, shown](const JobContext& context) {
        replayDevice(*shown, context, [&](std::shared_ptr<const ReplayData> replay) {
            context.deliver([this, shown, replay = std::move(replay)] { publishReplay(*shown, replay); });
        });
    });
    Q_EMIT progressChanged();
}

void Document::publishReplay(const DeviceData& of, std::shared_ptr<const ReplayData> replay)
{
    const int number = of.trace->device();
    const auto known = m_devices.find(number);
    if (known == m_devices.end() || known->second->trace != of.trace)
        return; // a newer generation is there
    auto data = std::make_shared<DeviceData>(*known->second);
    if (replay->summary && data->summary != replay->summary)
        data->summary = replay->summary;
    data->replay = std::move(replay);
    m_summaries[number] = summaryOf(*data);
    known->second = std::move(data);
    Q_EMIT deviceReady(number);
}

} // namespace strata::views
