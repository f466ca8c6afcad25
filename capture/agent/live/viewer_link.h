// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/live/chunk_store.h"

#include <cstdint>
#include <string>

namespace strata::agent {

/// What every viewer of a recording is told, and asked.
struct LiveHost {
    wire::Greeting greeting;
    std::string token; ///< of a link over TCP
    ChunkStore* store = nullptr;
    wire::Totals totals; ///< the latest
    std::size_t mostViewers = 64;
    std::size_t viewers = 0; ///< that follow now
};

/// One viewer that is connected: reads its one chunk, then writes what it wants, never waiting for it. What
/// does not fit the socket waits in one buffer of about kSliceBytes. The server's thread alone.
class ViewerLink {
public:
    static constexpr std::size_t kSliceBytes = 64 << 10;
    static constexpr std::int64_t kPatienceNs = 5'000'000'000; ///< for a viewer to say what it wants
    static constexpr std::int64_t kTotalsNs = 1'000'000'000; ///< between two totals

    /// `socket` is non-blocking and stays the server's.
    ViewerLink(int socket, bool needsToken, std::int64_t nowNs)
        : m_socket(socket)
        , m_needsToken(needsToken)
        , m_sinceNs(nowNs)
        , m_takenNs(nowNs)
    {
    }

    /// Reads what came. False: it is to be closed; `complaint` says why, if that is worth a line.
    [[nodiscard]] bool read(LiveHost& host, std::string& complaint);
    /// Writes what the viewer takes at once. False: it is to be closed.
    [[nodiscard]] bool write(LiveHost& host, std::int64_t nowNs, bool isEnd);

    [[nodiscard]] int socket() const { return m_socket; }
    [[nodiscard]] bool follows() const { return m_state == State::Following; }
    /// The socket is full: write() again when it is not.
    [[nodiscard]] bool isFull() const { return m_sent < m_out.size(); }
    /// It took its share of a turn: there may be more for it.
    [[nodiscard]] bool hasMore() const { return m_more; }
    /// It has not said in time what it wants.
    [[nodiscard]] bool isLate(std::int64_t nowNs) const
    {
        return m_state == State::Joining && nowNs - m_sinceNs > kPatienceNs;
    }
    [[nodiscard]] std::int64_t tookNs() const { return m_takenNs; } ///< when it last took something

private:
    enum class State : std::uint8_t { Joining, Following, Leaving };

    void join(const wire::Join& join, LiveHost& host, std::string& complaint);
    void refuse(wire::Refusal::Reason reason, std::string text);
    bool fill(LiveHost& host, std::int64_t nowNs, bool isEnd);
    void startLate(LiveHost& host);

    const int m_socket;
    const bool m_needsToken;
    const std::int64_t m_sinceNs;
    State m_state = State::Joining;
    wire::Bytes m_in, m_out;
    std::size_t m_sent = 0; // of m_out
    Cursor m_cursor;
    std::int64_t m_totalsNs = 0, m_takenNs;
    std::int64_t m_startNs = 0, m_pauseNs = 0; // when it began anew, and how long it is left alone then
    bool m_more = false;
};

} // namespace strata::agent
