// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/live/live_server.h"

#include "capture/agent/counter_clock.h"
#include "capture/agent/say.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace strata::agent {

namespace {

constexpr std::int64_t kRateNs = 2'000'000'000; // over which events a second are counted
constexpr int kTickMs = 250; // while somebody looks on
constexpr std::int64_t kNoDescriptorsNs = 1'000'000'000;

bool isTcp(int socket)
{
    int domain = 0;
    socklen_t size = sizeof domain;
    return getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0 || domain != AF_UNIX;
}

/// The same user, or root.
bool mayView(int socket)
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
        && (peer.uid == geteuid() || peer.uid == 0);
}

} // namespace

LiveServer::LiveServer(LiveOptions options, std::vector<wire::KeyValue> facts, ChunkStore& store)
    : m_options(std::move(options))
    , m_store(store)
{
    for (auto& each : m_open)
        each.store(-1, std::memory_order_relaxed);
    m_host.greeting.recording = drawNumber();
    m_host.greeting.facts = std::move(facts);
    m_host.store = &store;
    m_host.mostViewers = std::min(m_options.mostViewers, kMostViewers);
    if (m_options.port)
        m_host.token = m_options.token.empty() ? drawToken() : m_options.token;
}

LiveServer::~LiveServer()
{
    finish();
}

bool LiveServer::start(std::string& why)
{
    m_epoll = epoll_create1(EPOLL_CLOEXEC);
    m_wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    own(m_epoll);
    own(m_wake);
    if (m_epoll < 0 || m_wake < 0) {
        why = std::strerror(errno);
        return false;
    }
    if (!m_listeners.open(m_options, why))
        return false;
    for (const int descriptor : { m_listeners.local(), m_listeners.tcp() })
        own(descriptor);
    for (const int descriptor : { m_wake, m_listeners.local(), m_listeners.tcp() })
        if (descriptor >= 0)
            watch(descriptor, false);
    sigset_t all, before; // signals are for threads of the program
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    m_thread = std::thread([this] {
        try {
            run();
        } catch (...) {
            m_watched.store(false);
            say("live: there is no memory for viewers: nobody can look on any more, the program goes on");
        }
    });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return true;
}

void LiveServer::own(int descriptor) noexcept
{
    for (auto& each : m_open) {
        int none = -1;
        if (descriptor >= 0 && each.compare_exchange_strong(none, descriptor))
            return;
    }
}

void LiveServer::closeOwn(int descriptor) noexcept
{
    for (auto& each : m_open) {
        int mine = descriptor;
        if (descriptor >= 0 && each.compare_exchange_strong(mine, -1)) {
            close(descriptor);
            return;
        }
    }
}

void LiveServer::forget() noexcept
{
    for (auto& each : m_open)
        if (const int descriptor = each.exchange(-1); descriptor >= 0)
            close(descriptor);
}

void LiveServer::wake() noexcept
{
    if (m_woken.exchange(true))
        return;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t ignored = write(m_wake, &one, sizeof one);
}

void LiveServer::onChunk(bool storeIsFull)
{
    if (storeIsFull)
        m_keeps.store(true);
    if (storeIsFull || isWatched())
        wake();
}

void LiveServer::tell(const wire::Totals& totals)
{
    std::uint64_t events = 0;
    for (const wire::DeviceTotals& device : totals.devices)
        events += device.events;
    const std::lock_guard lock(m_mutex);
    m_totals = totals;
    m_rates.emplace_back(totals.timeNs, events);
    while (m_rates.size() > 2 && totals.timeNs - m_rates[1].first >= kRateNs)
        m_rates.erase(m_rates.begin());
    const auto& [since, before] = m_rates.front();
    if (totals.timeNs > since)
        m_totals.eventsPerSecond = static_cast<std::int64_t>(
            static_cast<double>(events - before) * 1e9 / static_cast<double>(totals.timeNs - since));
}

void LiveServer::finish()
{
    if (m_thread.joinable()) {
        m_ending.store(true);
        m_woken.store(false);
        wake();
        m_thread.join();
    }
    for (const int descriptor : { m_epoll, m_wake })
        closeOwn(descriptor);
    m_epoll = m_wake = -1;
    m_watched.store(false);
}

void LiveServer::run()
{
    std::array<epoll_event, 64> events;
    for (bool isOn = true; isOn;) {
        const int count = epoll_wait(m_epoll, events.data(), events.size(), patienceMs());
        {
            const std::lock_guard lock(m_mutex);
            m_host.totals = m_totals;
        }
        for (int i = 0; i < count; ++i)
            onReady(events[static_cast<std::size_t>(i)].data.fd, events[static_cast<std::size_t>(i)].events);
        const bool ending = m_ending.load();
        const std::int64_t now = nowNs();
        if (ending && m_endNs == 0) {
            m_endNs = now;
            stopListening();
        } else if (m_acceptAgainNs != 0 && now >= m_acceptAgainNs && m_endNs == 0) {
            m_acceptAgainNs = 0;
            for (const int descriptor : { m_listeners.local(), m_listeners.tcp() })
                if (descriptor >= 0)
                    watch(descriptor, false);
        }
        serve();
        if (m_keeps.exchange(false)) // who keeps pace has them now
            m_store.keep();
        isOn = !ending || !isOver(now);
    }
    while (!m_viewers.empty())
        drop(m_viewers.begin()->first);
}

void LiveServer::onReady(int socket, std::uint32_t events)
{
    if (socket == m_wake) {
        std::uint64_t ignored = 0;
        [[maybe_unused]] const ssize_t got = read(m_wake, &ignored, sizeof ignored);
        (void)m_woken.exchange(false); // what was added before is seen from here on
        return;
    }
    if (socket == m_listeners.local() || socket == m_listeners.tcp())
        return accept(socket);
    const auto viewer = m_viewers.find(socket);
    if (viewer == m_viewers.end() || (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) == 0)
        return;
    std::string complaint;
    m_host.viewers = following();
    if (!viewer->second->read(m_host, complaint))
        drop(socket);
    complain(complaint);
}

void LiveServer::stopListening()
{
    for (const int descriptor : { m_listeners.local(), m_listeners.tcp() })
        for (auto& each : m_open) {
            int mine = descriptor;
            if (descriptor >= 0)
                each.compare_exchange_strong(mine, -1);
        }
    m_listeners.close();
}

/// Nobody is left who still takes something.
bool LiveServer::isOver(std::int64_t now) const
{
    return now - m_endNs > m_options.lingerNs || std::ranges::all_of(m_viewers, [&](const auto& each) {
        return now - std::max(each.second->tookNs(), m_endNs) > m_options.stallNs;
    });
}

int LiveServer::patienceMs() const
{
    if (std::ranges::any_of(m_viewers, [](const auto& each) { return each.second->hasMore(); }))
        return 0;
    if (m_endNs != 0)
        return 10;
    return m_viewers.empty() && m_acceptAgainNs == 0 ? -1 : kTickMs;
}

void LiveServer::accept(int listener)
{
    while (true) {
        const int socket = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            if (errno != EAGAIN && errno != EWOULDBLOCK) {
                // The program needs its descriptors itself: later.
                complain("viewers have to wait: " + std::string(std::strerror(errno)));
                m_acceptAgainNs = nowNs() + kNoDescriptorsNs;
                for (const int descriptor : { m_listeners.local(), m_listeners.tcp() })
                    if (descriptor >= 0)
                        epoll_ctl(m_epoll, EPOLL_CTL_DEL, descriptor, nullptr);
            }
            return;
        }
        const bool tcp = isTcp(socket);
        if (!tcp && !mayView(socket)) {
            complain("another user tried to look on, and was refused");
            close(socket);
        } else if (m_viewers.size() >= m_host.mostViewers + kMostJoining) {
            complain("too many connect at once: some were refused");
            close(socket);
        } else {
            own(socket);
            m_viewers.emplace(socket, std::make_unique<ViewerLink>(socket, tcp, nowNs()));
            watch(socket, false);
        }
    }
}

void LiveServer::watch(int socket, bool forWriting)
{
    epoll_event event{};
    event.events = forWriting ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.fd = socket;
    if (epoll_ctl(m_epoll, EPOLL_CTL_ADD, socket, &event) != 0 && errno == EEXIST)
        epoll_ctl(m_epoll, EPOLL_CTL_MOD, socket, &event);
}

void LiveServer::serve()
{
    std::vector<int> gone;
    for (auto& [socket, viewer] : m_viewers)
        serve(*viewer, gone);
    for (const int socket : gone)
        drop(socket);
    m_watched.store(following() > 0, std::memory_order_relaxed);
}

std::size_t LiveServer::following() const
{
    return static_cast<std::size_t>(
        std::ranges::count_if(m_viewers, [](const auto& each) { return each.second->follows(); }));
}

void LiveServer::serve(ViewerLink& viewer, std::vector<int>& gone)
{
    const std::int64_t now = nowNs();
    if (viewer.isLate(now) || !viewer.write(m_host, now, m_endNs != 0)) {
        gone.push_back(viewer.socket());
        return;
    }
    const bool wasFull = m_full.contains(viewer.socket());
    if (viewer.isFull() == wasFull)
        return;
    if (wasFull)
        m_full.erase(viewer.socket());
    else
        m_full.insert(viewer.socket());
    watch(viewer.socket(), !wasFull);
}

void LiveServer::drop(int socket)
{
    m_viewers.erase(socket);
    m_full.erase(socket);
    closeOwn(socket);
}

/// Each thing once, however often it is done.
void LiveServer::complain(const std::string& what)
{
    if (!what.empty() && m_said.insert(what).second)
        say("live: " + what);
}

} // namespace strata::agent
