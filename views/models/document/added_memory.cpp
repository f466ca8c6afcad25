// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/document/added_memory.h"

#include "model/analysis/work/session_work.h"
#include "model/session/opener.h"

#include <QFile>

#include <utility>

namespace strata::views {

namespace {

std::string nameOf(const QString& path)
{
    return QFile::encodeName(path).toStdString();
}

} // namespace

model::Result<std::shared_ptr<const AddedMemory>> addMemory(
    const std::shared_ptr<const model::Session>& trace, const QString& path, const model::Progress& progress)
{
    const auto refused = [&](model::Error error) {
        error.where = nameOf(path);
        return model::Failure(std::move(error));
    };
    auto opener = model::Opener::open(nameOf(path), {});
    if (!opener)
        return refused(opener.error());
    auto session = opener->all(progress);
    if (!session)
        return refused(session.error());
    if (const auto own = model::workOf(*session); own && !own->ownRecording)
        return refused({ model::Error::Kind::Usage,
            model::say("it tells what ran when itself, so it is no part of this"),
            model::say("open it in a window of its own; what is added is a snapshot or a session of "
                       "memory"),
            {} });
    const std::shared_ptr<const model::Work> work = model::workOf(trace);
    const auto join = model::joinMemory(*work, trace->recording().strings, **session);
    if (!join)
        return refused(join.error());
    return std::make_shared<const AddedMemory>(AddedMemory{
        path, *session, *join, model::withMemoryOf(*work, **session, *join), model::timeOf(*work) });
}

MemoryAdder::MemoryAdder(QObject* parent)
    : QObject(parent)
{
    connect(&m_job, &BackgroundJob::progressChanged, this, &MemoryAdder::changed);
    connect(&m_job, &BackgroundJob::failed, this, [this](model::Error error) {
        error.where = nameOf(m_adding);
        refuse(std::move(error));
    });
}

void MemoryAdder::setTrace(std::shared_ptr<const model::Session> trace)
{
    if (trace == m_trace)
        return;
    m_trace = std::move(trace);
    m_refusal.reset();
    cancel();
    remove();
}

void MemoryAdder::add(const QString& path)
{
    m_adding = path;
    m_refusal.reset();
    m_job.start([trace = m_trace, path](
                    const JobContext& context) { return addMemory(trace, path, context.forModel()); },
        [this](model::Result<std::shared_ptr<const AddedMemory>> made) {
            if (!made)
                return refuse(made.error());
            m_adding.clear();
            m_added = *std::move(made);
            Q_EMIT addedChanged();
            Q_EMIT changed();
        });
    Q_EMIT changed();
}

void MemoryAdder::refuse(model::Error error)
{
    m_adding.clear();
    m_refusal = std::move(error);
    Q_EMIT changed();
}

void MemoryAdder::cancel()
{
    m_job.cancel();
    m_adding.clear();
    Q_EMIT changed();
}

void MemoryAdder::remove()
{
    if (!std::exchange(m_added, nullptr))
        return;
    Q_EMIT addedChanged();
    Q_EMIT changed();
}

void MemoryAdder::dismiss()
{
    m_refusal.reset();
    Q_EMIT changed();
}

} // namespace strata::views
