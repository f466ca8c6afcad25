// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/live/listeners.h"

#include "model/wire/link/link_folder.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace strata::agent {

namespace {

constexpr int kWaiting = 64; // that connect at the same moment
constexpr int kTries = 64; // names, or ports, that others have

std::string lastError()
{
    return std::strerror(errno);
}

} // namespace

std::uint64_t drawNumber()
{
    std::uint64_t number = 0;
    while (getrandom(&number, sizeof number, 0) != static_cast<ssize_t>(sizeof number) && errno == EINTR) { }
    return number;
}

std::string drawToken()
{
    constexpr std::array kDigits{ '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e',
        'f' };
    std::string token;
    for (int half = 0; half < 2; ++half) {
        std::uint64_t bits = drawNumber();
        for (int i = 0; i < 16; ++i, bits >>= 4)
            token += kDigits[bits & 15];
    }
    return token;
}

Listeners::~Listeners()
{
    close();
}

bool Listeners::open(const LiveOptions& options, std::string& why)
{
    const std::string folder = options.folder.empty() ? wire::makeLinkFolder(why) : options.folder;
    if (folder.empty())
        return false;
    if (const std::string problem = wire::whyNotTrusted(folder, geteuid()); !problem.empty()) {
        why = folder + ": " + problem;
        return false;
    }
    wire::removeDeadSockets(folder);
    if (!openLocal(folder, why))
        return false;
    if (options.port)
        openTcp(*options.port, why);
    return true;
}

/// It gets the name by which viewers look for it when it listens: whoever refuses then is gone.
bool Listeners::openLocal(const std::string& folder, std::string& why)
{
    const std::string process = std::to_string(getpid());
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string hidden = folder + "/." + process + "-" + std::to_string(drawNumber() % 1'000'000);
    if (hidden.size() + 8 >= sizeof address.sun_path) {
        why = folder
            + ": its name is too long for a socket: set XDG_RUNTIME_DIR to a folder with a shorter one";
        return false;
    }
    hidden.copy(address.sun_path, sizeof address.sun_path - 1);
    const int made = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) {
        why = lastError();
        return false;
    }
    // The mode that the name gets, whatever the mask of the process.
    bool done = fchmod(made, 0600) == 0
        && bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
        && chmod(hidden.c_str(), 0600) == 0 && listen(made, kWaiting) == 0;
    // Processes of several containers may share the folder, and their numbers.
    for (int number = 1; done && m_path.empty(); ++number) {
        const std::string name = folder + "/" + process + (number == 1 ? "" : "-" + std::to_string(number))
            + std::string(wire::kSocketSuffix);
        if (link(hidden.c_str(), name.c_str()) == 0)
            m_path = name;
        else if (errno != EEXIST || number == kTries)
            done = false;
    }
    if (!done)
        why = folder + ": " + lastError();
    unlink(hidden.c_str());
    if (!done) {
        ::close(made);
        return false;
    }
    m_local = made;
    return true;
}

void Listeners::openTcp(std::uint16_t port, std::string& why)
{
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    bool done = made >= 0 && setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0;
    // Ranks are told the same port: each takes the next one that is free.
    for (int number = 0; done; ++number) {
        address.sin_port = htons(static_cast<std::uint16_t>(port + number));
        if (bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0
            && listen(made, kWaiting) == 0)
            break;
        done = errno == EADDRINUSE && number + 1 < kTries && port + number < 65'535;
    }
    socklen_t size = sizeof address;
    if (done && getsockname(made, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
        m_tcp = made;
        m_port = ntohs(address.sin_port);
        return;
    }
    why = "127.0.0.1:" + std::to_string(port) + ": " + lastError();
    if (made >= 0)
        ::close(made);
}

void Listeners::close()
{
    if (m_local >= 0) {
        unlink(m_path.c_str());
        ::close(m_local);
    }
    if (m_tcp >= 0)
        ::close(m_tcp);
    m_local = m_tcp = -1;
}

} // namespace strata::agent
