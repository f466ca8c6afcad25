// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/follow.h"

#include "model/live/link_connection.h"
#include "model/live/link_reader.h"
#include "model/live/stream_copy.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

namespace strata::model {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kLookMs = 100; // at the stop token
constexpr auto kAnswerWithin = 10s; // a greeting, from a process that may be busy
constexpr std::size_t kReadBytes = std::size_t{ 256 } << 10;

Error refusedBy(const LinkAddress& address, const wire::Refusal& refusal)
{
    const auto because = [&](Sentence why, Sentence remedy) {
        return Error{ Error::Kind::Refused, say("%1: %2", address.text(), std::move(why)), std::move(remedy),
            {} };
    };
    switch (refusal.reason) {
    case wire::Refusal::Reason::Token:
        return because(say("the token is not the one of this recording"),
            say("the process said it as it began: set STRATA_TOKEN to it"));
    case wire::Refusal::Reason::Full:
        return because(say("too many look on already"), say("close one of them and try again"));
    case wire::Refusal::Reason::Version:
        return because(verbatim(refusal.text), say("record and watch with the same version of Strata"));
    default:
        return because(verbatim(refusal.text), {});
    }
}

class Following {
public:
    Following(const LinkAddress& address, const FollowOptions& options, LinkTaker& taker,
        const std::stop_token& stop)
        : m_address(address)
        , m_options(options)
        , m_taker(taker)
        , m_stop(stop)
    {
    }

    Result<void> run()
    {
        m_taker.onState(LinkState::Connecting, {});
        while (!m_stop.stop_requested()) {
            const Result<End> end = connection();
            if (!end)
                return Failure(end.error());
            if (*end == End::Whole)
                m_taker.onState(LinkState::Ended, {});
            if (*end != End::Lost)
                return {};
            if (!waitToReconnect())
                return {};
        }
        return {};
    }

private:
    enum class End : std::uint8_t { Whole, Lost, Stopped };

    /// One connection from its begin to its end.
    Result<End> connection()
    {
        wire::Join join;
        join.token = m_options.token;
        join.recording = m_recording;
        join.chunks = m_copy ? m_chunks : 0;
        Result<LinkConnection> link = LinkConnection::open(m_address, join);
        if (!link) {
            if (!m_greeted || link.error().kind != Error::Kind::NotFound)
                return Failure(link.error());
            return End::Lost;
        }
        LinkReader reader;
        std::vector<std::byte> buffer(kReadBytes);
        const auto asked = Clock::now();
        bool answered = false;
        while (!m_stop.stop_requested()) {
            const std::ptrdiff_t got = link->read(buffer, m_patienceMs);
            if (got > 0) {
                reader.feed(std::span(buffer).first(static_cast<std::size_t>(got)));
                const Result<bool> more = take(reader, answered);
                if (!more)
                    return Failure(more.error());
                if (!*more)
                    return End::Whole;
            }
            pause(got <= 0 || got < std::ssize(buffer));
            if (got < 0 && !answered && !m_greeted)
                return fail(Error::Kind::Unreadable, say("%1: it hangs up without a word", m_address.text()),
                    say("through a tunnel, make sure that the process at its other end still runs"));
            if (got < 0)
                return End::Lost;
            if (!answered && Clock::now() - asked > kAnswerWithin) {
                if (m_greeted)
                    return End::Lost;
                return fail(Error::Kind::Unreadable, say("%1: it does not answer", m_address.text()),
                    say("it may be stopped; try again when it runs"));
            }
        }
        return End::Stopped;
    }

    /// All items that there are. False: the recording is whole.
    Result<bool> take(LinkReader& reader, bool& answered)
    {
        while (true) {
            switch (reader.next()) {
            case LinkReader::Item::None:
                return true;
            case LinkReader::Item::Broken:
                return fail(Error::Kind::Format, say("%1: %2", m_address.text(), reader.problem()),
                    say("attach again; what was received until then is kept"));
            case LinkReader::Item::Refusal:
                return Failure(refusedBy(m_address, reader.refusal()));
            case LinkReader::Item::Greeting:
                answered = true;
                onGreeting(reader.greeting());
                break;
            case LinkReader::Item::Totals:
                m_taker.onTotals(reader.totals());
                break;
            case LinkReader::Item::Gap:
                m_copy.reset();
                m_missing = reader.gap().missing;
                m_isLate = true;
                break;
            case LinkReader::Item::Chunk:
                if (const Result<void> taken = onChunk(reader); !taken)
                    return Failure(taken.error());
                if (reader.head().type == wire::ChunkType::Index && !reader.isState())
                    return false;
                break;
            }
        }
    }

    void onGreeting(const wire::Greeting& greeting)
    {
        // What the viewer has stays the begin of the session if it is of this recording and goes on there.
        if (!m_greeted || greeting.recording != m_recording || greeting.next != m_chunks) {
            m_copy.reset();
            m_isLate = false;
            m_missing.clear();
        }
        m_greeted = true;
        m_recording = greeting.recording;
        m_chunks = greeting.next;
        m_taker.onState(LinkState::Following, {});
        m_taker.onGreeting(greeting);
    }

    Result<void> onChunk(const LinkReader& reader)
    {
        if (!m_copy) {
            m_copy = std::make_unique<StreamCopy>(m_isLate);
            if (const Result<void> begun = m_taker.onBegin(m_missing); !begun)
                return begun;
        }
        // Amid the states of a gap nothing can be gone on with.
        m_chunks = reader.isState() ? 0 : reader.chunksSoFar();
        const std::span<const std::byte> bytes = m_copy->take(reader.head(), reader.chunk());
        return bytes.empty() ? Result<void>{} : m_taker.onBytes(bytes);
    }

    /// At most ten times a second while there is more to read.
    void pause(bool isDrained)
    {
        const auto now = Clock::now();
        if (!isDrained && now - m_pausedAt < std::chrono::milliseconds(kLookMs))
            return;
        m_pausedAt = now;
        using std::chrono::milliseconds;
        m_patienceMs
            = static_cast<int>(std::clamp(m_taker.onPause(), milliseconds(1), milliseconds(kLookMs)).count());
    }

    /// False: there is nothing to go back to.
    bool waitToReconnect()
    {
        const auto lostAt = Clock::now();
        m_taker.onState(LinkState::Reconnecting, say("the connection is gone"));
        for (auto wait = 50ms;; wait = std::min<std::chrono::milliseconds>(2 * wait, 2s)) {
            for (auto slept = 0ms; slept < wait; slept += 50ms) {
                if (m_stop.stop_requested())
                    return false;
                std::this_thread::sleep_for(50ms);
            }
            // Whoever listens at a socket is gone for good when it refuses; a tunnel may come back.
            const Result<LinkConnection> probe = LinkConnection::open(m_address, { .follows = false });
            if (probe)
                return true;
            if (!m_address.isPort()
                || Clock::now() - lostAt > std::chrono::seconds(m_options.reconnectSeconds)) {
                m_taker.onState(LinkState::Broken,
                    m_address.isPort() ? say("it cannot be reached any more")
                                       : say("the process is gone, and did not end its recording"));
                return false;
            }
        }
    }

    const LinkAddress& m_address;
    const FollowOptions& m_options;
    LinkTaker& m_taker;
    const std::stop_token& m_stop;
    std::unique_ptr<StreamCopy> m_copy; // of the session that is under way
    std::vector<wire::Gap::Missing> m_missing; // of it
    bool m_isLate = false;
    bool m_greeted = false; // ever
    std::uint64_t m_recording = 0;
    std::uint32_t m_chunks = 0; // of the recording, that were taken
    Clock::time_point m_pausedAt{};
    int m_patienceMs = kLookMs;
};

} // namespace

Result<void> follow(
    const LinkAddress& address, const FollowOptions& options, LinkTaker& taker, const std::stop_token& stop)
{
    return Following(address, options, taker, stop).run();
}

} // namespace strata::model
