// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/end_to_end/xvfb.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace strata::test {

namespace {

constexpr int kServerPatienceMs = 120'000; // a loaded machine

std::string programInPath(const char* name)
{
    const char* path = std::getenv("PATH");
    std::istringstream folders(path ? path : "");
    for (std::string folder; std::getline(folders, folder, ':');)
        if (const std::string program = folder + "/" + name; access(program.c_str(), X_OK) == 0)
            return program;
    return {};
}

/// The first line that comes out of `fd`, without its end; empty if none comes.
std::string readLine(int fd)
{
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::milliseconds(kServerPatienceMs);
    std::string line;
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        pollfd waited{ fd, POLLIN, 0 };
        if (left.count() <= 0 || poll(&waited, 1, static_cast<int>(left.count())) == 0)
            return {};
        char c = 0;
        const ssize_t got = read(fd, &c, 1);
        if (got == 1 && c == '\n')
            return line;
        if (got == 1)
            line += c;
        else if (got == 0 || errno != EINTR)
            return {};
    }
}

} // namespace

Xvfb::Xvfb()
{
    const std::string program = programInPath("Xvfb");
    m_installed = !program.empty();
    if (m_installed)
        start(program);
    else
        m_problem = "Xvfb is not installed: apt-get install xvfb";
}

void Xvfb::start(const std::string& program)
{
    int ends[2];
    if (pipe(ends) != 0) {
        m_problem = "no pipe for Xvfb";
        return;
    }
    const std::string displayFd = std::to_string(ends[1]);
    m_server = fork();
    if (m_server == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        const int nowhere = open("/dev/null", O_RDWR);
        for (const int fd : { 0, 1, 2 })
            dup2(nowhere, fd);
        execl(program.c_str(), "Xvfb", "-displayfd", displayFd.c_str(), "-screen", "0", "1600x1000x24",
            "-dpi", "96", "-nolisten", "tcp", "-noreset", nullptr);
        _exit(127);
    }
    close(ends[1]);
    const std::string display = readLine(ends[0]);
    close(ends[0]);
    if (display.empty()) {
        m_problem = "Xvfb does not start";
        return;
    }
    setenv("DISPLAY", (":" + display).c_str(), 1);
    unsetenv("WAYLAND_DISPLAY");
    unsetenv("XAUTHORITY");
}

Xvfb::~Xvfb()
{
    if (m_server <= 0)
        return;
    kill(m_server, SIGTERM);
    waitpid(m_server, nullptr, 0);
}

} // namespace strata::test
