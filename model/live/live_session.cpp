// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/live_session.h"

#include "model/live/thin.h"
#include "model/readers/guarded.h"
#include "model/session/session_stream.h"

#include <algorithm>
#include <chrono>
#include <unistd.h>
#include <utility>

namespace strata::model {

namespace {

using Clock = std::chrono::steady_clock;

std::int64_t eventsOf(const Session& session)
{
    std::int64_t events = 0;
    for (const DeviceTrace& trace : session.devices())
        events += trace.eventCount();
    return events;
}

} // namespace

/// On the object's own thread.
class LiveSession::Taker final : public LinkTaker {
public:
    Taker(LiveSession& owner, const std::stop_token& stop)
        : m_owner(owner)
        , m_stop(stop)
    {
    }

    void onState(LinkState state, const Sentence& why) override
    {
        if ((state == LinkState::Ended || state == LinkState::Broken) && m_stream) {
            (void)m_stream->finish();
            publish();
        }
        tell([&](Status& status) {
            status.state = state;
            status.why = why;
        });
        changed();
    }
    void onGreeting(const wire::Greeting& greeting) override
    {
        tell([&](Status& status) { status.greeting = greeting; });
        m_news = true;
    }
    void onTotals(const wire::Totals& totals) override
    {
        tell([&](Status& status) { status.totals = totals; });
        m_news = true;
    }
    Result<void> onBegin(const std::vector<wire::Gap::Missing>& missing) override
    {
        SessionStream::Options options;
        options.path = m_owner.m_address.text();
        options.memoryLimit = m_owner.m_options.memoryLimit;
        m_stream = std::make_unique<SessionStream>(options);
        ++m_sessions;
        m_missing = missing;
        m_thinned = 0;
        return {};
    }
    Result<void> onBytes(std::span<const std::byte> chunks) override
    {
        tell([&](Status& status) { status.bytes += chunks.size(); });
        return m_stream->feed(chunks);
    }
    std::chrono::milliseconds onPause() override
    {
        using std::chrono::milliseconds;
        const auto since = std::chrono::duration_cast<milliseconds>(Clock::now() - m_shownAt);
        const milliseconds between = m_owner.m_options.between;
        const bool hasNews = m_news || (m_stream && m_stream->hasNews());
        if (!hasNews)
            return milliseconds::max();
        if (since < between)
            return between - since;
        if (m_stream && m_stream->hasNews())
            publish();
        m_news = false;
        changed();
        return milliseconds::max();
    }

    /// What kept it from being followed.
    void onError(const Error& error)
    {
        if (m_stream && m_stream->hasNews())
            publish();
        tell([&](Status& status) {
            status.state = LinkState::Broken;
            status.error = error;
        });
        changed();
    }

private:
    template <class Change> void tell(const Change& change)
    {
        const std::lock_guard lock(m_owner.m_mutex);
        change(m_owner.m_status);
    }
    void publish()
    {
        const auto session = m_stream->publish({ {}, m_stop });
        if (!session)
            return; // asked to stop
        m_news = true;
        if (eventsOf(**session) > std::max(m_owner.m_options.mostEvents, kLeastEvents))
            return thin();
        show(*session);
    }
    /// The older half goes; what is left is published as another session.
    void thin()
    {
        SessionPart part
            = newestOf(*m_stream->latest(), std::max(m_owner.m_options.mostEvents, kLeastEvents) / 2);
        for (const auto& [device, events] : part.left)
            m_thinned += static_cast<std::int64_t>(events);
        m_stream->goOnFrom(std::move(part));
        if (const auto session = m_stream->publish({ {}, m_stop }))
            show(*session); // else asked to stop
    }
    /// With what is said of it, so that one never stands without the other.
    void show(std::shared_ptr<const Session> session)
    {
        tell([&](Status& status) {
            status.latest = std::move(session);
            status.sessions = m_sessions;
            status.missing = m_missing;
            status.thinned = m_thinned;
        });
    }
    void changed()
    {
        m_shownAt = Clock::now();
        if (m_owner.m_changed)
            m_owner.m_changed();
    }

    LiveSession& m_owner;
    const std::stop_token m_stop;
    std::unique_ptr<SessionStream> m_stream;
    int m_sessions = 0; // these three are of the stream
    std::vector<wire::Gap::Missing> m_missing;
    std::int64_t m_thinned = 0;
    bool m_news = false;
    Clock::time_point m_shownAt{};
};

LiveSession::LiveSession(LinkAddress address, Options options, std::function<void()> changed)
    : m_address(std::move(address))
    , m_options(std::move(options))
    , m_changed(std::move(changed))
    , m_thread([this](const std::stop_token& stop) {
        Taker taker(*this, stop);
        const Result<void> followed
            = guarded([&]() -> Result<void> { return follow(m_address, m_options.link, taker, stop); });
        if (!followed)
            taker.onError(followed.error());
    })
{
}

LiveSession::~LiveSession() = default;

std::int64_t LiveSession::usualMostEvents()
{
    constexpr std::int64_t kBytesAnEvent = 200; // with what is derived of it, and twice for a moment
    const std::int64_t memory = std::int64_t{ sysconf(_SC_PHYS_PAGES) } * sysconf(_SC_PAGESIZE);
    return std::max(memory / 4 / kBytesAnEvent, kLeastEvents);
}

LiveSession::Status LiveSession::status() const
{
    const std::lock_guard lock(m_mutex);
    return m_status;
}

} // namespace strata::model
