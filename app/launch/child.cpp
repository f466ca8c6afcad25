// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launch/child.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <mutex>
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

/// Commands to which a signal handler passes a request to end; 0: none.
constexpr std::size_t kMostCommands = 2;
std::array<std::atomic<pid_t>, kMostCommands> g_commands{};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void passOn(int signal)
{
    for (const std::atomic<pid_t>& command : g_commands)
        if (const pid_t process = command; process != 0)
            kill(process, signal);
}

void replace(pid_t from, pid_t to)
{
    const auto place = std::ranges::find_if(
        g_commands, [&](const std::atomic<pid_t>& command) { return command == from; });
    if (place != g_commands.end())
        *place = to;
}

/// Handlers of signals while commands run, which the last one takes away. Locked by its user.
struct CommandSignals {
    std::mutex lock;
    std::size_t running = 0;
    void (*interrupt)(int) = SIG_DFL;
    void (*terminate)(int) = SIG_DFL;

    void add(pid_t command)
    {
        replace(0, command);
        if (running++ > 0)
            return;
        interrupt = std::signal(SIGINT, SIG_IGN);
        terminate = std::signal(SIGTERM, passOn);
    }
    void remove(pid_t command)
    {
        replace(command, 0);
        if (--running > 0)
            return;
        std::signal(SIGINT, interrupt);
        std::signal(SIGTERM, terminate);
    }
};

CommandSignals& commandSignals()
{
    static CommandSignals signals;
    return signals;
}

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
    CommandSignals& signals = commandSignals();
    pid_t child = -1;
    {
        const std::lock_guard guard(signals.lock);
        child = fork();
        if (child == 0) {
            if (signals.running > 0)
                std::signal(SIGINT, signals.interrupt); // not what is passed over while another command runs
            become(command, options);
        }
        if (child > 0)
            signals.add(child);
    }
    if (child < 0)
        return model::fail(model::Error::Kind::NotFound, model::verbatim(std::strerror(errno)),
            model::say("try again with more memory free"));
    const int status = waitFor(child, options.everyTwoSeconds);
    const std::lock_guard guard(signals.lock);
    signals.remove(child);
    return status;
}

} // namespace strata::launch
