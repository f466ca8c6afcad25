// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/agent/live/listeners.h"
#include "capture/agent/live/viewer_link.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace strata::agent {

/// Serves a recording to those who look on, on a thread of its own: sockets that never block, one epoll.
/// Nothing here is ever waited for by a thread that allocates, nor by the recorder's own: what that one calls
/// takes a lock that is never held over a call of the system, but finish().
class LiveServer {
public:
    /// `store` outlives this.
    LiveServer(LiveOptions options, std::vector<wire::KeyValue> facts, ChunkStore& store);
    ~LiveServer();
    LiveServer(const LiveServer&) = delete;
    LiveServer& operator=(const LiveServer&) = delete;

    /// Makes the sockets and the thread. False: `why` says what is wrong. True with `why`: TCP alone failed.
    [[nodiscard]] bool start(std::string& why);

    // The recorder's thread.
    /// There are more chunks in the store.
    void onChunk(bool storeIsFull);
    void tell(const wire::Totals& totals);
    /// No more chunks come: viewers get what is left, as long as they take it; then the sockets are gone.
    void finish();

    /// Any thread: somebody follows.
    [[nodiscard]] bool isWatched() const { return m_watched.load(std::memory_order_relaxed); }
    /// In the child of a fork, where no thread of this lives: the parent's sockets are closed here.
    void forget() noexcept;

    [[nodiscard]] const std::string& path() const { return m_listeners.path(); } ///< of the socket
    [[nodiscard]] std::uint16_t port() const { return m_listeners.port(); } ///< of TCP; 0: none
    [[nodiscard]] const std::string& token() const { return m_host.token; }

private:
    static constexpr std::size_t kMostViewers = 64, kMostJoining = 64;

    void run();
    void onReady(int socket, std::uint32_t events);
    void accept(int listener);
    void stopListening();
    [[nodiscard]] std::size_t following() const;
    void serve();
    void serve(ViewerLink& viewer, std::vector<int>& gone);
    void drop(int socket);
    void watch(int socket, bool forWriting);
    [[nodiscard]] int patienceMs() const;
    [[nodiscard]] bool isOver(std::int64_t now) const;
    void complain(const std::string& what);
    void wake() noexcept;
    void own(int descriptor) noexcept;
    void closeOwn(int descriptor) noexcept;

    LiveOptions m_options;
    ChunkStore& m_store;
    Listeners m_listeners;
    LiveHost m_host; // of the server's thread, as all that follows
    std::map<int, std::unique_ptr<ViewerLink>> m_viewers;
    std::set<int> m_full; // whose sockets are
    std::set<std::string> m_said;
    std::int64_t m_acceptAgainNs = 0; // 0: it accepts
    std::int64_t m_endNs = 0; // when the end was seen

    int m_epoll = -1, m_wake = -1;
    std::atomic<bool> m_watched{ false }, m_ending{ false }, m_keeps{ false }, m_woken{ false };
    std::mutex m_mutex; // guards what follows
    wire::Totals m_totals;
    std::vector<std::pair<std::int64_t, std::uint64_t>> m_rates; // of the last seconds: when, events
    std::array<std::atomic<int>, 256> m_open; // all that a child has to close
    std::thread m_thread;
};

} // namespace strata::agent
