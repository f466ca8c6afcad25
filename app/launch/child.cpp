// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/child.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace strata::launch {

namespace {

/// In the child, between fork and exec.
[[noreturn]] void become(const Command& command, const ChildOptions& options)
{
    for (const auto& [name, value] : options.set)
        setenv(name.c_str(), value.c_str(), 1);
    for (const std::string& name : options.unset)
        unsetenv(name.c_str());
    if (!options.log.empty()) {
        const int log = open(options.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
    } else if (options.outputToErrors)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    std::signal(SIGPIPE, SIG_DFL); // ignored by us, and exec would pass that on
    std::vector<char*> arguments;
    for (const std::string& word : command.words)
        arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execv(command.program.executable.c_str(), arguments.data());
    _exit(127);
}

/// The command to which a signal handler passes a request to end.
volatile std::sig_atomic_t g_command = 0;

void passOn(int signal)
{
    kill(g_command, signal);
}

class CommandSignals {
public:
    explicit CommandSignals(pid_t command)
    {
        g_command = command;
        m_interrupt = std::signal(SIGINT, SIG_IGN);
        m_terminate = std::signal(SIGTERM, passOn);
    }
    ~CommandSignals()
    {
        std::signal(SIGINT, m_interrupt);
        std::signal(SIGTERM, m_terminate);
    }
    CommandSignals(const CommandSignals&) = delete;
    CommandSignals& operator=(const CommandSignals&) = delete;

private:
    void (*m_interrupt)(int) = SIG_DFL;
    void (*m_terminate)(int) = SIG_DFL;
};

int waitFor(pid_t child, const std::function<void()>& everyTwoSeconds)
{
    using namespace std::chrono_literals;
    constexpr auto kPatience = 2s;
    auto next = std::chrono::steady_clock::now() + kPatience;
    for (auto pause = 1ms;; pause = std::min(2 * pause, 20ms)) {
        int status = 0;
        const pid_t ended = waitpid(child, &status, everyTwoSeconds ? WNOHANG : 0);
        if (ended == child)
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (ended < 0 && errno != EINTR)
            return 127;
        if (!everyTwoSeconds)
            continue;
        std::this_thread::sleep_for(pause);
        if (std::chrono::steady_clock::now() >= next) {
            everyTwoSeconds();
            next += kPatience;
        }
    }
}

} // namespace

model::Result<int> runChild(const Command& command, const ChildOptions& options)
{
    const pid_t child = fork();
    if (child == 0)
        become(command, options);
    if (child < 0)
        return model::fail(model::Error::Kind::NotFound, model::verbatim(std::strerror(errno)),
            model::say("try again with more memory free"));
    const CommandSignals signals(child);
    return waitFor(child, options.everyTwoSeconds);
}

} // namespace strata::launch
