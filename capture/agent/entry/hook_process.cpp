// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/entry/hook_process.h"

#include "capture/hook_maker/make_hook.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sched.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace strata::agent {

namespace {

struct Start {
    char** words;
    char** environment;
    int output;
};

/// In the child's child, which shares our memory until it has become the program: calls of the system alone.
[[noreturn]] void become(const Start& start)
{
    setsid();
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDERR_FILENO);
    dup2(start.output, STDOUT_FILENO);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    execve(start.words[0], start.words, start.environment);
    _exit(127);
}

/// In the child, which ends at once, so that the program is nobody's child here.
int startAndLeave(void* start)
{
    if (vfork() == 0)
        become(*static_cast<const Start*>(start));
    _exit(0);
}

std::vector<char*> pointersTo(std::vector<std::string>& words)
{
    std::vector<char*> pointers;
    for (std::string& word : words)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::string readAll(int file)
{
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
        const ssize_t count = read(file, buffer.data(), buffer.size());
        if (count > 0)
            text.append(buffer.data(), static_cast<std::size_t>(count));
        else if (count == 0 || errno != EINTR)
            return text;
    }
}

} // namespace

HookProcess::HookProcess(std::string program, std::string argument)
    : m_words{ std::move(program), std::move(argument) }
{
    for (char** variable = environ; variable && *variable; ++variable) {
        const std::string_view text = *variable;
        if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("STRATA_RECORD_"))
            m_environment.emplace_back(text);
    }
}

HookProcess::Answer HookProcess::run()
{
    const std::string failed = m_words.front() + ": does not start: install Strata again";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return { false, failed };
    std::vector<char*> words = pointersTo(m_words);
    std::vector<char*> environment = pointersTo(m_environment);
    Start start{ words.data(), environment.data(), ends[1] };
    // No signal is named that tells of the child's end: only who asks for such children (__WCLONE) sees it.
    std::vector<char> stack(64 << 10);
    const int child = clone(startAndLeave, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK, &start);
    while (child > 0 && waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) { }
    close(ends[1]);
    std::string text = child > 0 ? readAll(ends[0]) : std::string();
    close(ends[0]);
    text.resize(std::min(text.find('\n'), text.size()));
    if (text.starts_with(hook::kHookMade))
        return { true, text.substr(hook::kHookMade.size()) };
    return { false, text.empty() ? failed : text };
}

} // namespace strata::agent
