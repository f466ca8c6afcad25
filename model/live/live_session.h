// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/live/follow.h"
#include "model/session/session.h"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace strata::model {

/// A process that is watched, as a session that grows: the one thing a window needs for it.
///
///     socket -> a thread of its own -> status(): the newest generation, what it is of,
///                                                connected or not, totals
///
/// A generation is a Session like that of a file, immutable and shared (GrowingSession). Behind a gap another
/// session begins, joined late: `sessions` counts them. Where the older half of the events goes, a session
/// that began later takes the place of the one before: `thinned`. Reconnects by itself. The callback is
/// called on the thread of this object when something is new, as often as Options::between lets it; all else
/// on any thread.
class LiveSession {
public:
    struct Options {
        FollowOptions link;
        std::uint64_t memoryLimit = UINT64_MAX; ///< a session that unpacks to more bytes is refused
        /// Events that are kept: where there are more, the older half goes, but for its curves. At least
        /// kLeastEvents, behind which states that devices begin with have come.
        std::int64_t mostEvents = INT64_MAX;
        std::chrono::milliseconds between{ 20 }; ///< of two generations, at least
    };
    static constexpr std::int64_t kLeastEvents = 10'000;
    /// What programs keep: a quarter of this machine's memory, at what a window holds of an event.
    [[nodiscard]] static std::int64_t usualMostEvents();
    struct Status {
        LinkState state = LinkState::Connecting;
        Sentence why; ///< of that state, where there is something to say
        std::optional<Error>
            error; ///< why it is not followed any more, where that is no end of the recording
        std::optional<wire::Greeting> greeting; ///< describe() it
        std::optional<wire::Totals> totals; ///< the latest, even if the session is behind them
        std::shared_ptr<const Session> latest; ///< none before the first events; the next three are of it
        int sessions = 0; ///< how many began before it behind gaps, and it
        /// Events that are there as curves alone: where there are more than before, it does not go on from
        /// the generation before.
        std::int64_t thinned = 0;
        std::vector<wire::Gap::Missing> missing; ///< it was joined late
        std::uint64_t bytes = 0; ///< that came
    };

    /// Begins to follow. `changed` may be empty.
    LiveSession(LinkAddress address, Options options, std::function<void()> changed);
    /// Ends the thread: a tenth of a second, and what a publication takes.
    ~LiveSession();
    LiveSession(const LiveSession&) = delete;
    LiveSession& operator=(const LiveSession&) = delete;

    [[nodiscard]] Status status() const;
    [[nodiscard]] const LinkAddress& address() const { return m_address; }

private:
    class Taker;

    const LinkAddress m_address;
    const Options m_options;
    const std::function<void()> m_changed;
    mutable std::mutex m_mutex; // guards what follows
    Status m_status;
    std::jthread m_thread; // last: it uses all of them
};

} // namespace strata::model
