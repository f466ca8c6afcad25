// SPDX-License-Identifier: GPL-3.0-or-later
#include "model/live/link_connection.h"

#include "model/wire/link/link_folder.h"

#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace strata::model {

namespace {

Failure systemFailure(Error::Kind kind, const LinkAddress& address)
{
    return fail(kind, say("%1: %2", address.text(), std::strerror(errno)),
        address.isPort() ? say("is the tunnel open, and does the program record with --live-port there?")
                         : say("strata list shows those that can be watched"));
}

/// False: errno says why.
bool connectTo(int socket, const LinkAddress& address)
{
    if (address.isPort()) {
        sockaddr_in port{};
        port.sin_family = AF_INET;
        port.sin_port = htons(address.port);
        port.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return connect(socket, reinterpret_cast<const sockaddr*>(&port), sizeof port) == 0;
    }
    sockaddr_un path{};
    path.sun_family = AF_UNIX;
    if (address.socket.size() >= sizeof path.sun_path) {
        errno = ENAMETOOLONG;
        return false;
    }
    address.socket.copy(path.sun_path, sizeof path.sun_path - 1);
    return connect(socket, reinterpret_cast<const sockaddr*>(&path), sizeof path) == 0;
}

} // namespace

LinkConnection::LinkConnection(LinkConnection&& other) noexcept
    : m_socket(std::exchange(other.m_socket, -1))
    , m_process(other.m_process)
{
}

LinkConnection& LinkConnection::operator=(LinkConnection&& other) noexcept
{
    std::swap(m_socket, other.m_socket);
    std::swap(m_process, other.m_process);
    return *this;
}

LinkConnection::~LinkConnection()
{
    if (m_socket >= 0)
        close(m_socket);
}

Result<LinkConnection> LinkConnection::open(const LinkAddress& address, const wire::Join& join)
{
    if (!address.isPort()) {
        const std::string problem = wire::whyNoSocket(address.socket, address.owner);
        if (!problem.empty())
            return fail(
                access(address.socket.c_str(), F_OK) == 0 ? Error::Kind::Refused : Error::Kind::NotFound,
                say("%1: %2", address.socket, problem));
    }
    LinkConnection made(socket(address.isPort() ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    timeval patience{ 2, 0 }; // for what it takes at once
    if (made.m_socket < 0
        || setsockopt(made.m_socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0
        || !connectTo(made.m_socket, address))
        return systemFailure(Error::Kind::NotFound, address);
    if (!address.isPort()) {
        ucred peer{};
        socklen_t size = sizeof peer;
        if (getsockopt(made.m_socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
            return systemFailure(Error::Kind::Refused, address);
        if (peer.uid != address.owner && peer.uid != 0)
            return fail(Error::Kind::Refused, say("%1: another user listens there", address.socket),
                say("remove that socket: it may not be trusted"));
        made.m_process = peer.pid;
    }
    wire::Bytes bytes;
    wire::appendLinkChunk(wire::kJoin, wire::encodeJoin, join, bytes);
    if (send(made.m_socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != std::ssize(bytes))
        return systemFailure(Error::Kind::NotFound, address);
    return made;
}

std::ptrdiff_t LinkConnection::read(std::span<std::byte> into, int patienceMs) const
{
    pollfd wait{ m_socket, POLLIN, 0 };
    if (poll(&wait, 1, patienceMs) <= 0)
        return 0;
    const ssize_t got = recv(m_socket, into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0)
        return got;
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? 0 : -1;
}

} // namespace strata::model
