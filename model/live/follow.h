// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "model/base/result.h"
#include "model/live/link_address.h"
#include "model/wire/link/link_chunks.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace strata::model {

enum class LinkState : std::uint8_t {
    Connecting, ///< for the first time
    Following,
    Reconnecting, ///< the connection is gone; what was received stays, and what comes next follows it
    Ended, ///< the recording is over, and all of it was received
    Broken, ///< the process was killed, or cannot be reached any more: all that was received stays
};

/// Takes what a live link gives, on the thread of follow(). The calls, in their order:
///
///     onState(Connecting) onGreeting                         again behind each reconnection
///       onBegin  onBytes... onBegin onBytes...               a session; another one behind a gap
///       onTotals, onPause                                    in between
///     onState(Ended or Broken)
class LinkTaker {
public:
    virtual ~LinkTaker() = default;
    LinkTaker() = default;
    LinkTaker(const LinkTaker&) = delete;
    LinkTaker& operator=(const LinkTaker&) = delete;

    /// `why` is for the user; empty where there is nothing to say.
    virtual void onState(LinkState, const Sentence& /*why*/) { }
    virtual void onGreeting(const wire::Greeting&) { }
    virtual void onTotals(const wire::Totals&) { }
    /// The next bytes begin a session. `missing`: it was joined late, behind so many events of each device;
    /// empty: from its first event on. An error ends the following.
    [[nodiscard]] virtual Result<void> onBegin(const std::vector<wire::Gap::Missing>& missing) = 0;
    /// More of the session, whole chunks, as they stand in a file. An error ends the following.
    [[nodiscard]] virtual Result<void> onBytes(std::span<const std::byte> chunks) = 0;
    /// All that came was given, or a tenth of a second has passed: a moment to show something. It comes again
    /// within what is returned, even if nothing comes, a tenth of a second at most.
    virtual std::chrono::milliseconds onPause() { return std::chrono::milliseconds::max(); }
};

struct FollowOptions {
    std::string token; ///< of a port
    int reconnectSeconds
        = 30; ///< how long a port that went away is tried again; a socket: while its process lives
};

/// Follows the process until its recording ends, it goes, or `stop` is asked for, and reconnects in between.
/// An error is what kept it from ever being followed, or what the taker gave. Blocks; looks at `stop` ten
/// times a second.
[[nodiscard]] Result<void> follow(
    const LinkAddress& address, const FollowOptions& options, LinkTaker& taker, const std::stop_token& stop);

} // namespace strata::model
