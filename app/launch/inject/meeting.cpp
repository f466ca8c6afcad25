// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/inject/meeting.h"

#include "capture/agent/entry/injected.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace strata::launch {

using model::Error;

model::Result<Meeting> Meeting::with(pid_t process)
{
    Meeting meeting(process);
    // Nobody else has it while we wait: two who inject would take each other's work back.
    meeting.m_name = fmt::format("strata-inject-{}", process);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    meeting.m_name.copy(address.sun_path + 1, sizeof address.sun_path - 1);
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + meeting.m_name.size());
    meeting.m_listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const bool isBound = meeting.m_listener >= 0
        && bind(meeting.m_listener, reinterpret_cast<const sockaddr*>(&address), size) == 0;
    if (!isBound && errno == EADDRINUSE)
        return model::fail(Error::Kind::Refused,
            model::say("somebody else is bringing a recorder into process %1 just now", process),
            model::say("wait for that"));
    if (!isBound || listen(meeting.m_listener, 4) != 0)
        return model::fail(Error::Kind::Refused,
            model::say("no socket for the process to come to: %1", std::strerror(errno)),
            model::say("try again"));
    // By its number alone where the system is too old.
    meeting.m_watched = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    return meeting;
}

Meeting::Meeting(Meeting&& other) noexcept
    : m_process(other.m_process)
    , m_name(std::move(other.m_name))
    , m_listener(std::exchange(other.m_listener, -1))
    , m_link(std::exchange(other.m_link, -1))
    , m_watched(std::exchange(other.m_watched, -1))
{
}

Meeting::~Meeting()
{
    for (const int descriptor : { m_listener, m_link, m_watched })
        if (descriptor >= 0)
            close(descriptor);
}

Meeting::Came Meeting::waitFor(int socket, Deadline deadline, const std::stop_token& stop) const
{
    using namespace std::chrono_literals;
    while (!stop.stop_requested()) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
            deadline - std::chrono::steady_clock::now());
        if (left < 0ms)
            return Came::TooLate;
        std::array<pollfd, 2> waiting{ pollfd{ socket, POLLIN, 0 }, pollfd{ m_watched, POLLIN, 0 } };
        poll(waiting.data(), waiting.size(), static_cast<int>(std::min(left + 1ms, 50ms).count()));
        if (waiting[0].revents != 0)
            return Came::Yes;
        if ((m_watched >= 0 && waiting[1].revents != 0) || (kill(m_process, 0) != 0 && errno == ESRCH))
            return Came::Ended;
    }
    return Came::Stopped;
}

bool Meeting::isIt(int socket) const
{
    ucred peer{};
    socklen_t size = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == m_process;
}

Meeting::Came Meeting::wait(Deadline deadline, const std::stop_token& stop)
{
    for (;;) {
        if (const Came came = waitFor(m_listener, deadline, stop); came != Came::Yes)
            return came;
        const int link = accept4(m_listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (link < 0)
            continue;
        if (isIt(link)) {
            m_link = link;
            return Came::Yes;
        }
        close(link);
    }
}

Meeting::Came Meeting::receive(std::string& message, Deadline deadline, const std::stop_token& stop) const
{
    if (const Came came = waitFor(m_link, deadline, stop); came != Came::Yes)
        return came;
    message.assign(agent::injected::kMostBytes, '\0');
    const ssize_t got = recv(m_link, message.data(), message.size(), 0);
    message.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return got > 0 ? Came::Yes : Came::Ended;
}

void Meeting::send(const std::string& message) const
{
    (void)!::send(m_link, message.data(), message.size(), MSG_NOSIGNAL);
}

int Meeting::release()
{
    return std::exchange(m_link, -1);
}

} // namespace strata::launch
