// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/models/live/live_source.h"

#include "views/models/document/document.h"
#include "views/style/texts.h"

#include <QFile>
#include <QFileInfo>
#include <QThreadPool>

#include <atomic>
#include <mutex>
#include <utility>

namespace strata::views {

/// Stays until the session's thread has ended, which may be later than the source.
class LiveSource::Bridge {
public:
    explicit Bridge(LiveSource& owner)
        : m_owner(&owner)
    {
    }
    /// On the session's thread: however often, it is looked at once.
    void call()
    {
        if (m_called.exchange(true))
            return;
        const std::lock_guard lock(m_mutex);
        if (m_owner)
            QMetaObject::invokeMethod(
                m_owner, [owner = m_owner] { owner->take(); }, Qt::QueuedConnection);
    }
    void taken() { m_called = false; }
    void leave()
    {
        const std::lock_guard lock(m_mutex);
        m_owner = nullptr;
    }

private:
    std::mutex m_mutex;
    LiveSource* m_owner;
    std::atomic<bool> m_called = false;
};

LiveSource::LiveSource(Document& document, const LivePlace& place, std::int64_t mostEvents, QObject* parent)
    : QObject(parent)
    , m_document(document)
    , m_place(place)
    , m_bridge(std::make_shared<Bridge>(*this))
{
    document.follow();
    document.setName(name());
    model::LiveSession::Options options;
    options.link.token = place.token().toStdString();
    options.mostEvents = mostEvents > 0 ? mostEvents : model::LiveSession::usualMostEvents();
    m_session = std::make_unique<model::LiveSession>(
        place.address(), options, [bridge = m_bridge] { bridge->call(); });
}

LiveSource::~LiveSource()
{
    m_bridge->leave();
    // Ending its thread takes a tenth of a second, and giving back its columns longer.
    QThreadPool::globalInstance()->start(
        [session = std::shared_ptr<model::LiveSession>(std::move(m_session)),
            latest = std::move(m_status.latest), shown = std::move(m_shown)]() mutable {
            session.reset();
            latest.reset();
            shown.reset();
        });
}

QString nameOf(const model::LiveProcess& process)
{
    const QString name
        = process.name.empty() ? QString::fromStdString(process.address.text()) : text::utf8(process.name);
    if (!process.rank)
        return name;
    return process.worldSize
        ? LiveSource::tr("%1, rank %2 of %3").arg(name).arg(*process.rank).arg(*process.worldSize)
        : LiveSource::tr("%1, rank %2").arg(name).arg(*process.rank);
}

QString LiveSource::name() const
{
    return m_process ? nameOf(*m_process) : m_place.target();
}

bool LiveSource::ended() const
{
    return m_status.state == model::LinkState::Ended || m_status.state == model::LinkState::Broken;
}

void LiveSource::setFollowing(bool follows)
{
    if (m_follows == follows)
        return;
    m_follows = follows;
    show();
    Q_EMIT followingChanged();
}

std::int64_t LiveSource::eventsBehind(int device) const
{
    if (!m_status.latest || m_status.latest == m_shown)
        return 0;
    const auto eventsOf = [device](const std::shared_ptr<const model::Session>& session) -> std::int64_t {
        const model::DeviceTrace* const trace = session ? session->find(device) : nullptr;
        return trace ? trace->eventCount() : 0;
    };
    return std::max<std::int64_t>(eventsOf(m_status.latest) - eventsOf(m_shown), 0);
}

void LiveSource::take()
{
    m_bridge->taken(); // what comes from now on is looked at again
    m_status = m_session->status();
    if (m_status.greeting && !m_process) {
        m_process = model::describe(*m_status.greeting, m_place.address());
        m_document.setName(name());
        // Notes are kept with the file that is recorded to, where that is of this machine.
        for (const auto& [key, value] : m_status.greeting->facts)
            if (key == wire::greeting::kFile && !m_place.address().isPort())
                if (const QString file = QFile::decodeName(value.c_str());
                    QFileInfo(file).isAbsolute() && QFileInfo::exists(file))
                    m_document.follow(file);
    }
    show();
    tellOutOfMemories();
    Q_EMIT changed();
}

void LiveSource::show()
{
    if (m_follows && m_status.latest && m_status.latest != m_shown) {
        const std::pair<int, std::int64_t> began{ m_status.sessions, m_status.thinned };
        if (m_shown && began != m_began)
            m_document.follow(m_document.path()); // another session, behind a gap or of the newer half
        m_began = began;
        m_document.show(m_status.latest);
        m_shown = m_status.latest;
    }
    if (ended() && !m_endTold && m_shown == m_status.latest) {
        m_endTold = true;
        m_document.endFollowing(m_status.latest ? std::nullopt : m_status.error);
    }
}

void LiveSource::tellOutOfMemories()
{
    if (!m_status.latest)
        return;
    for (const model::DeviceTrace& trace : m_status.latest->devices()) {
        const auto count = static_cast<std::size_t>(trace.outOfMemories().size());
        const bool known = m_outOfMemories.contains(trace.device());
        if (count > std::exchange(m_outOfMemories[trace.device()], count) || (count > 0 && !known))
            Q_EMIT outOfMemory(trace.device(), static_cast<qint64>(count));
    }
}

} // namespace strata::views
